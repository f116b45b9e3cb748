"""Every state that can be reached, by the shortest way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

State = TypeVar("State", bound=Hashable)

Way = tuple[str, ...]
"""Inputs, in order."""


def walk(
    start: State, behind: Callable[[State, Way], Iterable[tuple[str, State]]]
) -> dict[State, Way]:
    """Each state once, the nearest first, with a shortest way there. behind: the inputs that go on from a
    state (reached by that way), and where each leads.

    >>> walk(0, lambda state, way: [("one", (state + 1) % 3), ("two", (state + 2) % 3)])
    {0: (), 1: ('one',), 2: ('two',)}
    """
    ways: dict[State, Way] = {start: ()}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        for name, following in behind(state, ways[state]):
            if following not in ways:
                ways[following] = (*ways[state], name)
                waiting.append(following)
    return ways
