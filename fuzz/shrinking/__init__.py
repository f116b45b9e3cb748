"""Smaller recipes that still fire: a function for each way to shrink; `registry.STEPS` lists them."""
