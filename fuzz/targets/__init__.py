"""Targets of campaigns: brokers, clients and decoders that run cases; `registry.py` lists their kinds.

A broker (`broker.py`) is a service (`service.py`: `apache.py`, `embedded.py`, or a running one) with a sender
that starts it, sends it cases and checks its health (`sender.py`, `health.py`). Cases in flight share
connections (`flow.py`, `connections.py`). If trouble shows after a batch, `blame.py` searches the case that
causes it. `clients/` has clients, `decoders.py` functions that read bytes, `pair.py` two targets that are
compared.
"""
