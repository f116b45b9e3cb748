"""Two captures compared: which exchanges belong together, and what differs in their bodies."""
