"""The brokers of a capture: they answer a live client with the recorded responses."""
