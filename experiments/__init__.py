"""Questions put to real systems: scenarios, peers and checks, and what came of them."""
