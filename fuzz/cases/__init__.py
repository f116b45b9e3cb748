"""A case and what was seen of it, as plain values, in JSON and in words; the seeded draws that make it."""
