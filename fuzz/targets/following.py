"""Which cases pieces of a log may be about that come while several are under way. No I/O of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from barnabas.fuzz.targets.entries import Logged

RECENT: Final = 4
"""Cases that were over before an entry came and may still be what it is about: other threads write some."""

NEXT: Final = 4
"""Cases over behind an entry that are nearer to it than those before."""


class Following:
    """Follows one log. log: what it gained since it was last asked. A broker writes most entries just before
    it answers: their case is over at the look at which they came, or soon."""

    def __init__(self, log: Callable[[], tuple[str, ...]]) -> None:
        self._log = log
        self._over: list[int] = []
        self._recent: deque[int] = deque(maxlen=RECENT)
        self._said: list[tuple[tuple[str, ...], list[int], list[int], int]] = []
        """Pieces of a look; who was over at it, who before that, and how many are in `_later` so far."""
        self._later: list[int] = []
        """Who was over since this was last asked, in order: one list, since one case may log thousands."""

    def over(self, number: int) -> None:
        """A case is over."""
        self._over.append(number)

    def look(self) -> None:
        """Look at the log."""
        over, self._over = self._over, []
        self._later += over
        if pieces := self._log():
            self._said.append((pieces, over, list(self._recent), len(self._later)))
        self._recent.extendleft(over)

    def logged(self, under_way: Iterable[int]) -> list[Logged]:
        """All that came since this was last asked."""
        self.look()
        said, self._said = self._said, []
        all_later, self._later = self._later, []
        under_way = tuple(under_way)
        found = []
        for pieces, over, before, place in said:
            later = all_later[place:]
            near = (*over, *later[:NEXT], *before, *later[NEXT:], *under_way)
            nearest = tuple(dict.fromkeys(near))
            found += [Logged(piece, nearest) for piece in pieces]
        return found
