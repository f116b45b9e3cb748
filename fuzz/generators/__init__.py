"""Generators of valid values, record batches and messages, from seeded draws."""
