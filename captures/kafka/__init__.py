"""Bytes as Kafka: protocol detection, framing, pairing, context that messages leave out, log lines."""
