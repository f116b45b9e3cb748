"""`barnabas clients`: how client libraries behave under faults."""
