"""Provide a ring that is closed between two polls of its reader."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.captures.live.ring import Ring


class Closing(Ring):
    """A ring whose first check for its end finds it closed, with data put before that."""

    last: Callable[[], object] | None = None
    """What puts that."""

    @property
    def closed(self) -> bool:
        if self.last is not None:
            last, self.last = self.last, None
            last()
            self.close()
        return super().closed
