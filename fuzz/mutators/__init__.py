"""What is done to a message, one way a file; contents.MUTATORS lists them."""
