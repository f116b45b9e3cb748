"""`barnabas peers`."""
