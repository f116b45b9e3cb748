"""`barnabas experiment`: measurements of real brokers and clients, and their reports."""
