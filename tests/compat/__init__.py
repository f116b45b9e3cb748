"""The compatibility table: brokers and clients of many versions do the same directly and through the proxy.

The clients are the programs of peers/clients, with workloads of experiments/clients. `plan.py` says what is
in the table; `sides.py` runs a workload on one side, `rows.py` both sides of all clients of a broker;
`processes.py` has the proxy and the captures beside them, `cells.py` what follows from that.
`python -m tests.compat` runs it and prints it; test_compat.py has what continuous integration runs.
"""
