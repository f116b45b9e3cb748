"""Brokers of the designs that never shipped, each a process with a ZooKeeper session of its own.

`cluster.py` starts them; `node.py` is one of them, `program.py` its process, and `designs.py` the differences
between the designs. When a broker is killed, ZooKeeper ends its session; then the others take over its
partitions (`barnabas.designs.brokers.logs`) and its groups.
"""
