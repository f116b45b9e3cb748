"""Declarations of messages inside bytes fields, by theme; `barnabas.specs.embedded.registry` lists them."""
