"""TLS in captures, read with the keys that one of its ends has logged."""
