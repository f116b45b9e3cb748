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
        self._said: list[tuple[str, list[int], list[int], list[int]]] = []
        """Pieces; who was over at the look at which one came, who before that, and who later."""

    def over(self, number: int) -> None:
        """A case is over."""
        self._over.append(number)

    def look(self) -> None:
        """Look at the log."""
        over, self._over = self._over, []
        for _, _, _, later in self._said:
            later.extend(over)
        self._said += [(piece, over, list(self._recent), []) for piece in self._log()]
        self._recent.extendleft(over)

    def logged(self, under_way: Iterable[int]) -> list[Logged]:
        """All that came since this was last asked."""
        self.look()
        said, self._said = self._said, []
        found = []
        for piece, over, before, later in said:
            near = (*over, *later[:NEXT], *before, *later[NEXT:], *under_way)
            found.append(Logged(piece, tuple(dict.fromkeys(near))))
        return found
