"""Who gets the cases, one kind a file."""
