"""`barnabas fuzz`."""
