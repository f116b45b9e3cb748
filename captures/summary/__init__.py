"""Summaries of a capture: counts and latencies by API, client, broker, topic and group."""
