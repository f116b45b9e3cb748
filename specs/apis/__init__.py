"""One file an API: the declaration of all its versions."""
