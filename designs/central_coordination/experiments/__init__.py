"""Experiments about central coordination; results are in ../docs/results."""
