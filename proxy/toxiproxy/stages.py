"""The chain of toxics of one stream of one connection, on the caller's clock.

If a toxic changes, waiting pieces are planned again under it. If one is removed, waiting pieces leave at
once. A removed timeout closes the connection: it has lost bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.toxiproxy.behaviour import (
    KINDS,
    NEVER,
    PIECES,
    Behaviour,
    End,
    LimitData,
    Noop,
    Piece,
    Timeout,
)
from barnabas.proxy.toxiproxy.toxics import Toxic

TimedPiece = tuple[int, Piece]
"""A time in ns, and a piece."""


def behaviour(toxic: Toxic, roll: Roll, now: int) -> Behaviour:
    """Return a toxic's behaviour on a connection; chance above its toxicity gives none."""
    behaviour_type = KINDS.get(toxic.type)
    if behaviour_type is None or roll() >= toxic.toxicity:
        return Noop()
    return behaviour_type(toxic.attributes, roll, now)


class Stage:
    """One toxic, and the pieces that it holds."""

    def __init__(self, name: str, acts: Behaviour) -> None:
        self.name = name
        self._acts = acts
        self._waiting: deque[tuple[int, int, Piece]] = deque()
        """Departure, arrival and content of each piece."""
        self.bytes = 0
        self._ended = False

    @property
    def full(self) -> bool:
        """Return whether the stage holds enough pieces."""
        return self.bytes > self._acts.room or len(self._waiting) > PIECES

    @property
    def due(self) -> int | None:
        """Return when the next piece leaves."""
        times = [self._waiting[0][0]] if self._waiting else []
        if self._acts.due is not None and not self._ended:
            times.append(self._acts.due)
        return min((time for time in times if time < NEVER), default=None)

    def put(self, piece: Piece, now: int) -> None:
        """Take an arriving piece."""
        if self._ended:
            return
        for leaves, each in self._acts.plan(piece, now):
            self._waiting.append((leaves, now, each))
            self.bytes += _size(each)
            if each in (End.CLOSE, End.RESET):
                self._ended = True

    def leaving(self, now: int) -> Iterator[TimedPiece]:
        """Yield the pieces that leave by now."""
        while self._waiting and self._waiting[0][0] <= now:
            leaves, _, piece = self._waiting.popleft()
            self.bytes -= _size(piece)
            yield leaves, piece
        due = self._acts.due
        if due is not None and due <= now and not self._ended:
            self._ended = True
            yield due, End.CLOSE

    def update(self, acts: Behaviour) -> None:
        """Continue with another behaviour: waiting pieces are planned again, counts continue."""
        if isinstance(acts, LimitData) and isinstance(self._acts, LimitData):
            acts.sent = self._acts.sent
        self._acts = acts
        waiting, self._waiting, self.bytes, ended = self._waiting, deque(), 0, self._ended
        self._ended = False
        for _, arrived, piece in waiting:
            self.put(piece, arrived)
        self._ended |= ended

    def rest(self) -> Iterator[Piece]:
        """Yield the pieces that leave when the stage is removed."""
        yield from (piece for _, _, piece in self._waiting)
        if isinstance(self._acts, Timeout) and not self._ended:
            yield End.CLOSE


class Stages:
    """All toxics of a stream."""

    def __init__(self) -> None:
        self._stages: list[Stage] = []

    @property
    def empty(self) -> bool:
        """Return whether the stream has no toxics."""
        return not self._stages

    @property
    def full(self) -> bool:
        """Return whether no more pieces should arrive for now."""
        return any(stage.full for stage in self._stages)

    @property
    def due(self) -> int | None:
        """Return when the next piece leaves a stage."""
        return min((due for stage in self._stages if (due := stage.due) is not None), default=None)

    def add(self, name: str, acts: Behaviour) -> None:
        """Add a toxic after the others."""
        self._stages.append(Stage(name, acts))

    def update(self, name: str, acts: Behaviour) -> None:
        """Replace the behaviour of a toxic."""
        for stage in self._stages:
            if stage.name == name:
                stage.update(acts)

    def remove(self, name: str, now: int) -> list[Piece]:
        """Remove a toxic; return the pieces that leave the stream by that."""
        index = next((i for i, stage in enumerate(self._stages) if stage.name == name), None)
        if index is None:
            return []
        stage = self._stages.pop(index)
        return self._pass(index, [(now, piece) for piece in stage.rest()], now)

    def put(self, piece: Piece, now: int) -> list[Piece]:
        """Take an arriving piece; return the pieces that leave the stream by that."""
        return self._pass(0, [(now, piece)], now)

    def advance(self, now: int) -> list[Piece]:
        """Return the pieces that leave the stream by now."""
        return self._pass(0, [], now)

    def _pass(self, index: int, pieces: Iterable[TimedPiece], now: int) -> list[Piece]:
        """Pass pieces to the stage at an index; return those that have passed all stages."""
        for stage in self._stages[index:]:
            for arrived, piece in pieces:
                stage.put(piece, arrived)
            pieces = list(stage.leaving(now))
        return [piece for _, piece in pieces]


def _size(piece: Piece) -> int:
    return len(piece) if isinstance(piece, bytes) else 0
