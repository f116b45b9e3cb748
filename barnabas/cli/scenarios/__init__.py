"""`barnabas scenario` and `barnabas rehearse`."""
