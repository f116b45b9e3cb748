"""Declarations of what hides inside bytes, by theme; `specs.inside.contents` is their contents page."""
