"""`barnabas spec`: APIs, layouts, error codes."""
