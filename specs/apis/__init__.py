"""Declarations of all APIs, one file for each; `barnabas.specs.registry` has their keys and names."""
