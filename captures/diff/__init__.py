"""Compare two captures: pair their exchanges, and list the differences of their bodies."""
