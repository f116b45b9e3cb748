"""Which case each entry of a broker's log is about.

`attribute_entries` gives an entry to the case whose connection or request it names. `LogTimeline` ranks the
cases that may have caused an entry which names none. `Unattributed` decides for which of these entries the
case is searched: only for errors, since others become no finding; not for a shape that one case alone has
shown; and not after a few batches in which no case showed it alone (some errors take two cases, or a certain
moment).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.requests import parse_requests
from barnabas.fuzz.targets.log_entries import LoggedEntry, connection_of, reports_error, shape

LOST: Final = 3
"""Batches in which the case of a shape is searched in vain."""


class Unattributed:
    """The log entries of one target whose case is unknown."""

    def __init__(self) -> None:
        self._caught: set[str] = set()
        self._lost: Counter[str] = Counter()

    def is_searched(self, entry: str) -> bool:
        """Return whether the case of an entry is still searched."""
        if not reports_error(entry):
            return False
        kind = shape(entry)
        return kind not in self._caught and self._lost[kind] < LOST

    def note_culprit(self, log: Iterable[str]) -> None:
        """Note that one case alone has caused these entries."""
        self._caught.update(map(shape, log))

    def note_searched(self, log: Iterable[str]) -> None:
        """Note that the case of these entries was searched in a batch."""
        self._lost.update({shape(entry) for entry in log} - self._caught)


def attribute_entries(
    observations: Sequence[Observation], log: Sequence[str]
) -> tuple[list[Observation], tuple[str, ...]]:
    """Add log entries that name a connection or a request to the observations of their cases.

    If a connection had several cases, the entry goes to the case whose request has its correlation id, else
    to the last one. An entry that names only a request goes to the one case that sent it.

    Returns:
        The observations, and the remaining entries.
    """
    attributed_to = list(observations)
    if not log:
        return attributed_to, ()
    ports: dict[object, list[int]] = {}
    ids: dict[int | None, list[int]] = {}
    for index, observation in enumerate(attributed_to):
        ports.setdefault(dict(observation.facts).get("port"), []).append(index)
        for number in {
            request.correlation_id for request in parse_requests(observation.sent).requests
        }:
            ids.setdefault(number, []).append(index)
    unattributed = []
    for entry in log:
        port, correlation_id = connection_of(entry)
        matching = ids.get(correlation_id, [])
        candidates = ports.get(port, []) if port is not None else matching
        if not candidates or (port is None and len(candidates) > 1):
            unattributed.append(entry)
            continue
        index = max(candidates, key=lambda i: (i in matching, attributed_to[i].ending != "open", i))
        attributed_to[index] = replace(attributed_to[index], log=(*attributed_to[index].log, entry))
    return attributed_to, tuple(unattributed)


RECENT: Final = 4
"""Cases that ended before an entry came and may have caused it: other threads write some entries."""

NEXT: Final = 4
"""Cases that ended after an entry and are nearer to it than those before."""


class LogTimeline:
    """Follows one log while several cases are in flight. log: returns the entries since its last call.

    A broker writes most entries just before it responds: their case is over at the look at which they came,
    or soon after. No I/O.
    """

    def __init__(self, log: Callable[[], tuple[str, ...]]) -> None:
        self._log = log
        self._over: list[int] = []
        self._recent: deque[int] = deque(maxlen=RECENT)
        self._said: list[tuple[tuple[str, ...], list[int], list[int], int]] = []
        """Entries of a look; the cases over at it, those before, and the length of `_later` then."""
        self._later: list[int] = []
        """Cases that ended since the last call of `logged`, in order: one list, since a case may log
        thousands of entries."""

    def over(self, number: int) -> None:
        """Note that a case is over."""
        self._over.append(number)

    def look(self) -> None:
        """Read new log entries."""
        over, self._over = self._over, []
        self._later += over
        if pieces := self._log():
            self._said.append((pieces, over, list(self._recent), len(self._later)))
        self._recent.extendleft(over)

    def logged(self, under_way: Iterable[int]) -> list[LoggedEntry]:
        """Return all entries since the last call, with the cases that may have caused each."""
        self.look()
        looks, self._said = self._said, []
        all_later, self._later = self._later, []
        under_way = tuple(under_way)
        entries = []
        for pieces, over, before, index in looks:
            later = all_later[index:]
            near = (*over, *later[:NEXT], *before, *later[NEXT:], *under_way)
            nearest = tuple(dict.fromkeys(near))
            entries += [LoggedEntry(piece, nearest) for piece in pieces]
        return entries
