"""What is done to a message, one way a file; registry.MUTATORS lists them."""
