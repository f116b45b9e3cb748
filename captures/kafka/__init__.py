"""Streams of bytes as Kafka: protocol detection, framing, pairing, what messages do not say themselves, log lines."""
