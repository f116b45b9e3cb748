"""Records for the designs of group coordination: a log for each partition, with the APIs of 0.8.

- `log.py` is a partition's log without its file: offsets and their positions. `files.py` keeps the files.
- `answers.py` makes responses from logs, `metadata.py` determines a partition's leader.
- `broker.py` puts all that in front of a broker's core, which answers all other requests.

The brokers of a cluster share a folder, so a partition's next leader has all acknowledged records, as
replicas would. A leader holds its file by a lock, which ends with its process; no other broker leads before.
So a paused process keeps its partitions, without a leader that responds, until it resumes.
"""
