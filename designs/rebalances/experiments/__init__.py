"""Experiments about rebalances of real consumers; results are in ../docs/results."""
