"""The tables of a capture that is still being written, batch by batch."""
