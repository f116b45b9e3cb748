"""Clients as targets: a program that runs sessions against the bench's broker (`fuzz/answering`).

`registry.py` finds the one that a user names among those of `barnabas.peers.clients`, `target.py` runs cases
with it: side by side in the order of the cases (`side_by_side.py`), and those that alarm again alone
(`confirming.py`). `worker.py` is one session, `processes.py` says which process it is in, and
`child.py` is one process of its program.
"""
