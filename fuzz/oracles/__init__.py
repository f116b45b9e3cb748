"""What is wrong in an observation: a function for each question; registry.ORACLES lists them."""
