"""Clients as targets: a program that runs sessions against the bench's broker (`fuzz/answering`).

`registry.py` finds the client that a user names. `target.py` runs cases with it: sessions side by side, in
the order of the cases (`side_by_side.py`), and each case that raised an alarm (`alarms.py`) once more, alone
(`confirming.py`). `worker.py` is one session, `processes.py` has the processes in which sessions run, and
`child.py` is one of these, started from the client's program or forked by a server (`forked.py`).
"""
