"""Kafka's client libraries, each in any release, in a program and an environment of its own.

`registry.py` has the table of libraries. `python.py`, `java.py`, `golang.py`, `node.py` and `rust.py` get a
release and the program that uses it, and keep both below barnabas' cache (`cache.py`). `programs/`, `go/`,
`js/` and `rust/` have the programs, one for each library. A program reads what to run line by line
(`programs/lines.py`): short sessions for the fuzzer, and workloads that write a history of what they did. In
Python a workload stands once (`programs/workloads.py`), and a library's file has the clients that it uses
(`programs/library.py`).
"""
