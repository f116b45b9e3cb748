"""`barnabas experiment`."""
