"""Smaller recipes that still fire: a function for each way to make one smaller; registry.STEPS lists them."""
