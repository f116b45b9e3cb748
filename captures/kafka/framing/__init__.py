"""Frames out of the bytes of a stream: where one begins behind a gap, and whether it is Kafka at all."""
