"""Several processes for one proxy: a supervisor that listens, and workers that carry the connections.

The supervisor (`supervisor.py`) accepts clients, refuses those that a rule refuses, and numbers the others.
It hands each client to the worker with the fewest connections (`handover.py`), and carries no traffic. A
worker (`worker.py`) is forked from it and has a `barnabas.proxy.network.server.Proxy` without listeners.

A worker asks the supervisor for values that all workers must agree on, and waits for them
(`supervisor_requests.py`): the listener of a new node, the ordinal of a client's connection, and whether a
rule that a person fired has fired already. Commands of a person go the other way, over `channel.py`. The
number of connections of each worker is in shared memory (`loads.py`), so that it is known even after the
worker's end.

Rules that depend on other connections need all of them in one process: then one worker takes all.
"""
