"""Clients as targets: a program that runs sessions against the bench's broker (`fuzz/answering`).

`registry.py` lists the kinds of clients, `target.py` runs cases with one, `child.py` is its process,
`programs/` and `go/` are the programs.
"""
