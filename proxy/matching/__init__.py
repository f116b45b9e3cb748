"""Messages as rules see them, and which ones a rule is about.

A rule's parts: `match` (the header and what is named), `where` (a condition on the body), `record` (on its
records), `when` (how often). `message` is what they look at, `kinds` what an API's messages can hold;
`settings`, `notation`, `units` and `field_paths` are how values are written, `seeded_random` is chance.
"""
