"""What a user brings: checks and faults of their own, named as `module:TUPLE`."""
