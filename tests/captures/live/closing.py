"""A ring that is closed between two looks of its reader."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.captures.live.ring import Ring


class Closing(Ring):
    """Who looks for the first time whether it is closed finds it so, and something put before that."""

    last: Callable[[], object] | None = None
    """What puts that."""

    @property
    def closed(self) -> bool:
        if self.last is not None:
            last, self.last = self.last, None
            last()
            self.close()
        return super().closed
