"""`barnabas explore`: a user's program under a fault at each of its exchanges."""
