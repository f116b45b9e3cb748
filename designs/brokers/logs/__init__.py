"""Records behind the designs of group coordination: a log a partition, Produce, Fetch and Offsets of 0.8.

- `log.py` is a partition's log without its file: offsets, and where they stand. `files.py` keeps the files.
- `answers.py` makes responses of what logs have, `metadata.py` says who leads a partition.
- `broker.py` puts all that in front of a broker's core, which answers everything else.

The brokers of a cluster share a folder, so a partition's next leader has all that was acknowledged: that is
what replicas are for, without them. A leader holds its file by a lock, which ends with its process; nobody
else leads before. So a process that stands still keeps its partitions, with nobody to ask, until it goes on.
"""
