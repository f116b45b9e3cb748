"""The toxics of one stream of one connection, one behind the other, on a clock of whoever asks.

Where a toxic changes, what waits is planned anew under it; where one is removed, what waits leaves at once. A
timeout that is removed closes the connection: it has lost bytes.
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

Timed = tuple[int, Piece]
"""When (ns), and what."""


def behaviour(toxic: Toxic, roll: Roll, now: int) -> Behaviour:
    """What a toxic does on a connection: nothing, where chance is above its toxicity."""
    kind = KINDS.get(toxic.type)
    if kind is None or roll() >= toxic.toxicity:
        return Noop()
    return kind(toxic.attributes, roll, now)


class Stage:
    """One toxic, and the pieces that it holds."""

    def __init__(self, name: str, acts: Behaviour) -> None:
        self.name = name
        self._acts = acts
        self._waiting: deque[tuple[int, int, Piece]] = deque()
        """When it leaves, when it came, and what."""
        self.bytes = 0
        self._ended = False

    @property
    def full(self) -> bool:
        """Whether it holds enough."""
        return self.bytes > self._acts.room or len(self._waiting) > PIECES

    @property
    def due(self) -> int | None:
        """When something leaves."""
        times = [self._waiting[0][0]] if self._waiting else []
        if self._acts.due is not None and not self._ended:
            times.append(self._acts.due)
        return min((time for time in times if time < NEVER), default=None)

    def put(self, piece: Piece, now: int) -> None:
        """A piece has come."""
        if self._ended:
            return
        for leaves, each in self._acts.plan(piece, now):
            self._waiting.append((leaves, now, each))
            self.bytes += _size(each)
            if each in (End.CLOSE, End.RESET):
                self._ended = True

    def leaving(self, now: int) -> Iterator[Timed]:
        """What leaves by now."""
        while self._waiting and self._waiting[0][0] <= now:
            leaves, _, piece = self._waiting.popleft()
            self.bytes -= _size(piece)
            yield leaves, piece
        due = self._acts.due
        if due is not None and due <= now and not self._ended:
            self._ended = True
            yield due, End.CLOSE

    def update(self, acts: Behaviour) -> None:
        """Go on as another toxic: what waits is planned anew, what is counted goes on."""
        if isinstance(acts, LimitData) and isinstance(self._acts, LimitData):
            acts.sent = self._acts.sent
        self._acts = acts
        waiting, self._waiting, self.bytes, ended = self._waiting, deque(), 0, self._ended
        self._ended = False
        for _, came, piece in waiting:
            self.put(piece, came)
        self._ended |= ended

    def rest(self) -> Iterator[Piece]:
        """What leaves when it is removed."""
        yield from (piece for _, _, piece in self._waiting)
        if isinstance(self._acts, Timeout) and not self._ended:
            yield End.CLOSE


class Stages:
    """All toxics of a stream."""

    def __init__(self) -> None:
        self._stages: list[Stage] = []

    @property
    def empty(self) -> bool:
        """Whether nothing is done to the stream."""
        return not self._stages

    @property
    def full(self) -> bool:
        """Whether no more is to come for now."""
        return any(stage.full for stage in self._stages)

    @property
    def due(self) -> int | None:
        """When something leaves."""
        return min((due for stage in self._stages if (due := stage.due) is not None), default=None)

    def add(self, name: str, acts: Behaviour) -> None:
        """A toxic more, behind the others."""
        self._stages.append(Stage(name, acts))

    def update(self, name: str, acts: Behaviour) -> None:
        """One of them is another now."""
        for stage in self._stages:
            if stage.name == name:
                stage.update(acts)

    def remove(self, name: str, now: int) -> list[Piece]:
        """One of them less; what leaves by that."""
        place = next((i for i, stage in enumerate(self._stages) if stage.name == name), None)
        if place is None:
            return []
        stage = self._stages.pop(place)
        return self._pass(place, [(now, piece) for piece in stage.rest()], now)

    def put(self, piece: Piece, now: int) -> list[Piece]:
        """A piece has come; what leaves by that."""
        return self._pass(0, [(now, piece)], now)

    def advance(self, now: int) -> list[Piece]:
        """What leaves by now."""
        return self._pass(0, [], now)

    def _pass(self, place: int, pieces: Iterable[Timed], now: int) -> list[Piece]:
        """Pieces come to the stage at a place; what has passed all stages."""
        for stage in self._stages[place:]:
            for came, piece in pieces:
                stage.put(piece, came)
            pieces = list(stage.leaving(now))
        return [piece for _, piece in pieces]


def _size(piece: Piece) -> int:
    return len(piece) if isinstance(piece, bytes) else 0
