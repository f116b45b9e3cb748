"""One file an API: the declaration of all its versions; `barnabas.specs.registry` knows its key and name."""
