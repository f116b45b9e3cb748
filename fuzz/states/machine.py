"""What is learned of a broker: a Mealy machine."""

from __future__ import annotations

from typing import NamedTuple

from barnabas.fuzz.states.walking import Way


class Step(NamedTuple):
    """An input in a state: what it is answered with, and the state behind it."""

    output: str
    next: int


class Machine(NamedTuple):
    """What was learned of a broker. access: for each state, the inputs that lead there; the first one is the
    beginning. steps: for each state, by input. whole: no walk found another state. requests: sent for it."""

    broker: str
    access: tuple[Way, ...]
    steps: tuple[dict[str, Step], ...]
    whole: bool
    requests: int
