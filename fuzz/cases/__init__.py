"""Cases, recipes and observations as plain values and as JSON, and the seeded random draws."""
