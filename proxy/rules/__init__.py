"""Rules at work: which of them a message meets, and what their faults come to, taken together."""
