"""Decrypt TLS in captures with the keys that a client or server logged."""
