"""Summarise captures: counts and latencies by API, client, broker, topic and group.

The views over time are updated with each exchange, in bounded memory that counts dropped entries: `lanes` and
`bands` of groups with `moves`, `lag` and `lag_series`, `transactions`, `traffic` of topics, `latency_view`
with `heat_map`. `live_figures` has the rates of the last seconds and the present state of groups.
"""
