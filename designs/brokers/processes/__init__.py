"""Brokers of the designs that never shipped, each a process of its own with a ZooKeeper session of its own.

`cluster.py` starts them and says where they are; `node.py` is one of them, `program.py` its process, and
`designs.py` what differs between the designs. A broker that is killed is gone for the others when ZooKeeper
ends its session: they take over its partitions (`barnabas.designs.brokers.logs`) and its groups.
"""
