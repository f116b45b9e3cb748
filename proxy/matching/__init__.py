"""Decides which messages a rule is about.

A rule has a `match` (the header, and the entities that a message names), `where` (a condition on the body),
`record` (a condition on its records) and `when` (how often the rule fires). `message` is the object that
these conditions read; `contents` is what the messages of an API can contain. `settings`, `notation`,
`units` and `field_paths` define how values are written. `seeded_random` is the source of chance.
"""
