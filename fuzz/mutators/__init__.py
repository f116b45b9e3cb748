"""What is done to a message. `registry.MUTATORS` lists all mutators: a function and a line each.

A module has the functions that change one kind of thing: `lengths` (numbers that say how long or how many),
`fields`, `header`, `tagged_fields`, `record_fields`, `batches` (whole ones), `structure`, `delivery`.
`splicing` puts bytes in the place of others and corrects what is around them, or deliberately does not.
`repacking` does so for what was compressed.
"""
