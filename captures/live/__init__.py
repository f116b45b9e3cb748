"""The live stream of a proxy: what a capture would have, in memory, for readers in other processes.

`ring.py` is the bounded memory that processes share, `lock.py` keeps its writers apart. `writer.py`
writes the stream, `sink.py` puts its blocks into the ring, and `reading.py` makes exchanges of them as
captures do. The writer never waits for its reader: what does not fit is lost and counted, and the
stream begins anew when half of the ring is free. Who would rather wait is told in time (`low`).

The capture of several processes goes through such a ring, too (`capture_ring.py`): nothing else is lost there
than what does not fit, and a thread writes it.
"""
