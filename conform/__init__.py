"""Conformance checks: does this broker speak Kafka?

A check (`check.py`) is a coroutine of requests and expectations, in `areas/`, a module an area. It sees a
`Broker` (`broker.py`) with connections (`connection.py`), fresh names and decoded responses (`response.py`,
`expectations.py`). Everything it does is an operation (`operations.py`) that a driver carries out:
`network.py` on sockets, `drive.py` on recorded results. `run.py` runs checks side by side and reaches
verdicts (`verdicts.py`).
"""
