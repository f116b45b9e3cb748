"""Kafka's client libraries, each in any release, in a program and an environment of its own.

`registry.py` lists the libraries; `python.py`, `java.py`, `golang.py`, `node.py` and `rust.py` say how a
release and the program that uses it are got, which are kept below barnabas' cache (`cache.py`). `programs/`,
`go/`, `js/` and `rust/` are the programs: one for each library, which runs what it is told line by line
(`programs/lines.py`): short sessions for the fuzzer, and workloads that say in a history what they did.
"""
