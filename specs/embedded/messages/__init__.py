"""Declarations of what hides inside bytes, by theme; `barnabas.specs.embedded.registry` lists them."""
