"""Kafka's client libraries, each in any release, in a program and an environment of its own.

`registry.py` has the table of libraries. `python.py`, `java.py`, `golang.py`, `node.py` and `rust.py` install
a release and its program in barnabas' cache (`cache.py`). `programs/`, `go/`, `js/` and `rust/` have the
programs, one for each library. A program reads tasks line by line (`programs/lines.py`): short sessions for
the fuzzer, and workloads, which write a history. In Python each workload is written once
(`programs/workloads.py`), and a library's file adapts its clients (`programs/library.py`).
"""
