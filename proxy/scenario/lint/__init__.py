"""What is said of a scenario that is right: rules that can never fire, what rules cost and depend on."""
