"""Experiments about pipelined producers; results are in ../docs/results."""
