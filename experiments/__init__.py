"""Questions put to real systems: a scenario, its peers, checks, and a written result."""
