"""What the bench's broker says to each API, one file for what belongs together; see registry.py."""
