"""`barnabas clients`: which client does what under which fault."""
