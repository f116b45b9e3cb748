"""Systematic exploration: a run of a program for each exchange and fault, and the consequences.

`recording.py` identifies the exchanges of a run without faults by stable properties: client id, API, and the
number of preceding ones. `cuts.py` makes a scenario from an exchange and a fault; the scenario's file is
kept. `errors.py` has the errors that brokers may report, by API. `plan.py` orders the runs so that they are
spread evenly under any limit, and a larger limit extends a smaller one. `bench.py` is one run: a proxy, the
program in a process group of its own (`command.py`), its history (`history.py`) and the log (`read_log.py`);
`checks/` are pure functions of history and log, and `checks/outputs.py` of an expectation. `untried.py` lists
what an exploration has not tried. `exploration.py` runs all of it, repeats the first failing runs, and stops
at a program that has findings without a fault. `folder.py` keeps a line for each finished run.
"""
