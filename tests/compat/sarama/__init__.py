"""Sarama's own functional tests, behind toxiproxy and behind barnabas in its place."""
