"""Lines of limited rate: when each is free again. They belong to their rule, and end with it."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Final

MOST: Final = 10_000
"""Lines of a rule that are busy at once; of more, the one that was used least lately begins anew."""


class Lines:
    """The lines of one rule, by who shares each.

    >>> lines = Lines()
    >>> lines.pace("client a", 10, 0), lines.pace("client a", 10, 5), lines.pace("client b", 10, 5)
    (10, 20, 15)
    """

    def __init__(self) -> None:
        self._busy: OrderedDict[bytes, int] = OrderedDict()
        self._idle = 0
        """From when on one of them may be idle."""

    def __len__(self) -> int:
        return len(self._busy)

    def pace(self, line: str, ns: int, now: int) -> int:
        """When something is through that takes so many ns of a line. What is idle saves nothing up."""
        # a name may be a client's id of 32 KB
        key = hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        until = max(self._busy.pop(key, now), now) + ns
        self._busy[key] = until
        if len(self._busy) > MOST:
            self._forget(now)
        return until

    def _forget(self, now: int) -> None:
        """An idle line is as good as one that never was."""
        if now >= self._idle:
            self._busy = OrderedDict(
                (key, until) for key, until in self._busy.items() if until > now
            )
            self._idle = min(self._busy.values(), default=0)
        if len(self._busy) > MOST:
            self._busy.popitem(last=False)
