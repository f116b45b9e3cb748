"""The proxy as a process of its own, between real clients and brokers that fail."""
