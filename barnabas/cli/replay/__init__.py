"""`barnabas replay` and `barnabas serve`."""
