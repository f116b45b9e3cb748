"""Smaller recipes that still fire: one way to make one smaller a file; registry.STEPS lists them."""
