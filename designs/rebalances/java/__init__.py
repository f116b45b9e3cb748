"""Java consumers that follow scripts, many groups of them in one process (`client.py`)."""
