"""What is wrong in an observation, one question a file; registry.ORACLES lists them."""
