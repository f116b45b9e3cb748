"""The number of connections of each worker, in memory that the processes share."""

from __future__ import annotations

import mmap


class Loads:
    """The number of connections of each worker. Each count has one process that writes it.

    Make it before workers are forked.

    >>> loads = Loads(2)
    >>> loads.handed(0), loads.took(0), loads.opened(0, 1), loads.handed(1)
    (None, None, None, None)
    >>> [loads.of(worker) for worker in range(2)]
    [1, 1]
    """

    def __init__(self, workers: int) -> None:
        self._handed = [0] * workers
        self._shared = memoryview(mmap.mmap(-1, 16 * workers)).cast("Q")

    def of(self, worker: int) -> int:
        """Return the number of connections that are open in a worker, or on their way to it."""
        taken_count, open_ = self._shared[2 * worker : 2 * worker + 2]
        return self._handed[worker] - taken_count + open_

    def handed(self, worker: int) -> None:
        """Count a client that the supervisor has handed to the worker."""
        self._handed[worker] += 1

    def took(self, worker: int) -> None:
        """Count a client that the worker has received."""
        self._shared[2 * worker] += 1

    def opened(self, worker: int, count: int) -> None:
        """Set the number of connections that are open in the worker."""
        self._shared[2 * worker + 1] = count

    def forget(self, worker: int) -> int:
        """Reset the counts of a worker that has ended; return how many connections are lost."""
        lost = self.of(worker)
        self._handed[worker] = 0
        self._shared[2 * worker] = self._shared[2 * worker + 1] = 0
        return lost
