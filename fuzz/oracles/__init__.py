"""Oracles: pure functions that report what is wrong in an observation; `registry.ORACLES` lists them."""
