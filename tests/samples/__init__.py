"""How the files in captures/samples were made: `python -m tests.samples` makes them again."""
