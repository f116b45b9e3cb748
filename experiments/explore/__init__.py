"""Systematic exploration: one fault at every exchange of a program, one run each, and what it cost.

`recording.py` numbers the exchanges of a run without faults by what stays from run to run: client id, API,
and how many of these came before. `cuts.py` makes an ordinary scenario of one of them and a fault; the file
that is kept is the one that runs. `plan.py` orders the runs so that every beginning is spread evenly: what
was done under a smaller bound is part of a larger one. `bench.py` is one run: a proxy, the program in a
process group of its own (`command.py`), its history (`history.py`), the log (`read_log.py`); `checks/` are
pure functions of history and log. `exploration.py` is all of it in turn, repeats the first runs that fail,
and tries no fault on a program that has findings without any. `folder.py` keeps a line for each run that is
over.
"""
