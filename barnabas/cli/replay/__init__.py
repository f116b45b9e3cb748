"""`barnabas replay`: recorded requests, sent to a live cluster."""
