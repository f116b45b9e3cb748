"""Stream a proxy's traffic in memory, like a capture, to readers in other processes.

`ring.py` is the bounded memory that the processes share, `lock.py` synchronises its writers. `writer.py`
writes the stream, `sink.py` puts its blocks into the ring, and `reader.py` builds exchanges from them as
from captures. The writer never waits for its reader: blocks that do not fit are lost and counted, and the
stream restarts when half of the ring is free. A writer that prefers to wait is warned in time (`low`).

A capture of several processes uses such a ring, too (`capture_ring.py`): there only blocks that do not fit
are lost, and a thread writes the file.
"""
