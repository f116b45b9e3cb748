from __future__ import annotations

from random import Random

import pytest

from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.states.alphabet import Alphabet, Input
from barnabas.fuzz.states.learner import learn
from barnabas.specs.groups import Table

COUNTING = Alphabet(
    "counting",
    "up and down",
    (),
    lambda name: {},
    tuple(Input(name, 0, lambda _: {}) for name in ("up", "down")),
    Table("", (), ()),
)


class Counter:
    """Goes up to `top`, and says no beyond."""

    alphabet = COUNTING
    requests = 0

    def __init__(self, top: int) -> None:
        self.top, self.height = top, 0

    def restart(self) -> None:
        self.height = 0

    def close(self) -> None:
        pass

    def say(self, name: str) -> str:
        self.requests += 1
        height = self.height + (1 if name == "up" else -1)
        if not 0 <= height <= self.top:
            return "no"
        self.height = height
        return "yes"


class Moody(Counter):
    def say(self, name: str) -> str:
        super().say(name)
        return str(self.requests)


def test_states_that_look_alike_for_a_while_are_told_apart() -> None:
    speaking = Counter(4)
    machine = learn("it", speaking, Random(1))
    assert [one.count("up") for one in machine.access] == [0, 1, 2, 3, 4]
    assert machine.steps[4] == {"up": ("no", 4), "down": ("yes", 3)}
    assert machine.steps[0] == {"up": ("yes", 1), "down": ("no", 0)}
    assert machine.whole
    assert machine.requests == speaking.requests


def test_who_answers_the_same_in_two_ways_has_no_machine() -> None:
    with pytest.raises(CannotRun, match=r"answered in two ways \(\S+ vs \S+\) after (up|down)"):
        learn("it", Moody(4), Random(1))


def test_what_is_doubted_is_tried() -> None:
    """A walk of two inputs never gets to the top of ten."""
    ways = [("up",) * 11]
    without = learn("it", Counter(10), Random(1), length=1, walks=1)
    machine = learn("it", Counter(10), Random(1), length=1, walks=1, doubted=lambda _: ways)
    assert (len(without.access), len(machine.access)) == (1, 11)
