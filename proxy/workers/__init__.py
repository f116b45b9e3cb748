"""Several processes for one proxy: a supervisor that listens, and workers that carry the connections.

The supervisor (`supervisor.py`) accepts clients, refuses whom a rule refuses, numbers the others, and hands
each to the worker with the fewest (`handover.py`). It carries no traffic. A worker (`worker.py`) is forked
from it and has a `barnabas.proxy.network.server.Proxy` without listeners. What must be one for all of them a
worker asks of the supervisor and waits for (`questions.py`): where a new node is listened for, which of a
client's connections one is, and whether a rule that a person fired has fired already. What a person asks
goes the other way, over `channel.py`. How many connections a worker has stands in memory that they share
(`loads.py`), and is known when it is dead.

Rules that depend on other connections need all of them in one process: then one worker takes all.
"""
