"""Clients as targets: a program that runs sessions against the bench's broker (`fuzz/bench_broker`).

`registry.py` finds the client that a user names. `target.py` runs cases with it: concurrent sessions,
observed in the order of the cases (`scheduler.py`). Each case that raised an alarm (`alarms.py`) runs again,
alone (`confirmation.py`). `worker.py` is one session, `processes.py` has the processes in which sessions run,
and `child.py` is one of these, started from the client's program or forked by a server (`fork_server.py`).
"""
