"""A producer with several requests in flight, as the document of 0.8 proposes; see README.md."""
