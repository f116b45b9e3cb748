"""A Mealy machine that was learned, and a walk over its states by the shortest paths."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple, TypeVar

State = TypeVar("State", bound=Hashable)

InputPath = tuple[str, ...]
"""Inputs, in order."""


def walk(
    start: State, next_states: Callable[[State, InputPath], Iterable[tuple[str, State]]]
) -> dict[State, InputPath]:
    """Return each state once, the nearest first, with a shortest path to it.

    next_states: returns the inputs and following states of a state, given a path to it.

    >>> walk(0, lambda state, way: [("one", (state + 1) % 3), ("two", (state + 2) % 3)])
    {0: (), 1: ('one',), 2: ('two',)}
    """
    paths: dict[State, InputPath] = {start: ()}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        for name, following in next_states(state, paths[state]):
            if following not in paths:
                paths[following] = (*paths[state], name)
                waiting.append(following)
    return paths


class Step(NamedTuple):
    """An input in a state: its output, and the following state."""

    output: str
    next: int


class Machine(NamedTuple):
    """A machine that was learned of a broker.

    Attributes:
        broker: The broker's name.
        access: For each state, the inputs that lead there; the first is the initial state.
        steps: For each state, the step of each input.
        whole: No walk found another state.
        requests: Requests sent for it.
    """

    broker: str
    access: tuple[InputPath, ...]
    steps: tuple[dict[str, Step], ...]
    whole: bool
    requests: int
