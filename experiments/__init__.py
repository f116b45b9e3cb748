"""Experiments with real systems: scenarios, clients and brokers under faults, and their results.

An experiment (`experiment.py`) is a function that measures, given a bench, and a pure function that writes
Markdown from the measurements, which are kept as JSON next to it: so figures and text agree. The proxy runs
in a process of its own, so that it shares no interpreter with the measured program. `scenarios/` has the
ready scenarios, `explore/` puts one fault at each exchange of a program, `clients/` compares client libraries
under faults. Installed packages add experiments (`registry.py`).
"""
