"""What an observation says: its requests, responses, ends, exceptions, memory. Targets and oracles ask."""
