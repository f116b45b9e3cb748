"""Questions put to real systems: scenarios, peers and checks, and what came of them.

An experiment (`experiment.py`) is a function that measures, given a bench, and a pure function that writes
Markdown of what was measured, which is kept as JSON beside it: figures and text can't disagree. The proxy
is a process of its own, so that it shares no interpreter with what is measured. `scenarios/` has the ready
scenarios, `explore/` puts one fault at each exchange of a program, `clients/` compares client libraries under
faults. Installed packages add experiments (`registry.py`).
"""
