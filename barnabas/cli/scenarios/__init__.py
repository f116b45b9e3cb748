"""`barnabas scenario`: ready scenarios, and checks of the user's."""
