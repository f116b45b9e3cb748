"""Valid values, record batches and messages, by seeded draws."""
