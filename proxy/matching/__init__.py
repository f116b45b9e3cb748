"""Messages as rules see them, and which ones a rule is about: `match`, `where`, `when` and their values."""
