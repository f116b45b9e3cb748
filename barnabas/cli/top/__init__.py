"""`barnabas top`: live tables of clients, topics, groups and APIs.

`sources` has the snapshots of a proxy or a capture. `view` holds a person's choices, which keys change.
`tables` draws a snapshot. `screen` shows it on the whole terminal.
"""
