"""`barnabas proxy`."""
