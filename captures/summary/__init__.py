"""What a capture comes to: counts and latencies by API, client, broker, topic and group."""
