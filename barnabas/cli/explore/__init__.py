"""`barnabas explore`."""
