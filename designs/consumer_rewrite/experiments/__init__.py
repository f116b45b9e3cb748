"""Experiments about the consumer rewrite; results are in ../docs/results."""
