"""Scenario files: YAML in, rules with their conditions and faults out, or all that is wrong, with lines."""
