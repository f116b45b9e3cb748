"""Close files in a thread, so that writing to the next file does not wait."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


class Closer:
    """A thread that closes one file at a time; it reports errors of closing to `failed`."""

    def __init__(self, failed: Callable[[OSError], None]) -> None:
        self._failed = failed
        self._thread: threading.Thread | None = None

    def close(self, file: int, then: Callable[[], None]) -> None:
        """Close a descriptor, then call `then`.

        Waits for the previous file, so that files do not accumulate.
        """
        self.wait()
        self._thread = threading.Thread(
            target=self._run, args=(file, then), name="capture-closer", daemon=True
        )
        self._thread.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the file is closed, or for some seconds. False: it is still open."""
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self, file: int, then: Callable[[], None]) -> None:
        try:
            os.close(file)  # a network file system may report failed writes only now
        except OSError as problem:
            self._failed(problem)
        finally:
            then()
