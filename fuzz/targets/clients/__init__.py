"""Clients as targets: a program that runs sessions against the bench's broker (`fuzz/answering`).

`registry.py` finds the one that a user names among those of `barnabas.peers.clients`, `target.py` runs
cases with it, `child.py` is the process of its program.
"""
