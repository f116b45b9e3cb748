"""Mutators: functions that change a message. `registry.MUTATORS` lists all: a function and a line each.

A module has the functions that change one kind of thing: `lengths` (lengths and counts), `fields`, `header`,
`tagged_fields`, `record_fields`, `batches` (whole ones), `structure`, `delivery`. `splicing` replaces bytes
and corrects the numbers that describe them, or deliberately does not. `repacking` does so for compressed
content.
"""
