"""What is wrong in an observation, one question a file; contents.ORACLES lists them."""
