"""What others may rely on (docs/stability.md), recorded: `python -m tests.stability` writes it anew."""
