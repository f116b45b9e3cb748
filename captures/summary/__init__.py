"""Summaries of a capture: counts and latencies by API, client, broker, topic and group.

What a view over time needs is made as exchanges come, each in bounded memory that counts what falls out:
`lanes` and `bands` of groups with what `moves`, `lag`, `transactions`, `traffic` of topics, `heat_map`.
"""
