"""What a session may take behind its end, by what is known of its kind."""

from __future__ import annotations

import struct

from barnabas.fuzz.answering.seeds import seeds
from barnabas.fuzz.cases.case import Case, Change, Recipe
from barnabas.fuzz.targets.clients.alarms import Kind, spinning, waiting
from barnabas.fuzz.targets.clients.ending import Ending, beside
from barnabas.fuzz.targets.clients.limits import Limits

LIMITS = Limits(hung_s=8.0, spins_s=2.0, much_s=0.5)
(SEED,) = seeds([(12, 1)])


def _case(path: str, frame: bytes = SEED.frame) -> Case:
    change = Change("bit_flips", path, 0, "")
    return Case(1, Recipe(SEED, (change,)), (struct.pack(">i", len(frame)) + frame,))


def _may(case: Case, *known: Kind) -> Ending:
    return beside(case, LIMITS, known.__contains__)


def test_what_nobody_knows_has_half_of_the_time() -> None:
    assert _may(_case("error_code")) == Ending(4.0, 2.0)


def test_what_is_known_is_not_waited_for_in_full_again() -> None:
    case = _case("error_code")
    assert _may(case, waiting(case)) == Ending(2.0, 2.0)
    assert _may(case, spinning(case)) == Ending(4.0, 0.5)
    assert _may(case, waiting(_case("member_id"))) == Ending(4.0, 2.0)
