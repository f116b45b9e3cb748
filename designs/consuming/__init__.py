"""Shared parts of both designs' consumers.

`dialer.py` and `connector.py` are the connection to the coordinator; `fetcher.py` reads records from leaders
with Fetch v0. `questions.py` and `topics.py` find out why brokers return nothing.
"""
