"""Closes files in a thread, so that what is written to the next one does not wait."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


class Closer:
    """Closes one file at a time. `failed` gets what a disk says only then; the thread calls it."""

    def __init__(self, failed: Callable[[OSError], None]) -> None:
        self._failed = failed
        self._thread: threading.Thread | None = None

    def close(self, file: int, then: Callable[[], None]) -> None:
        """Close this descriptor and call `then`. Waits for the one before: they do not pile up."""
        self.wait()
        self._thread = threading.Thread(
            target=self._run, args=(file, then), name="capture-closer", daemon=True
        )
        self._thread.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all is closed and called, or so long. False if it is not."""
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self, file: int, then: Callable[[], None]) -> None:
        try:
            os.close(file)  # a network's disk may say only now what it did not write
        except OSError as problem:
            self._failed(problem)
        finally:
            then()
