"""The protocol guide of 0.8: a client written after it, and brokers compared with it; see README.md."""
