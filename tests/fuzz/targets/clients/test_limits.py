"""How much time a session has, by a clock and delays that the test says."""

from __future__ import annotations

import struct

from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.cases.case import Case, Change, Recipe
from barnabas.fuzz.targets.clients.alarms import AlarmKind, spinning, waiting
from barnabas.fuzz.targets.clients.limits import LOOK, Allowance, EndLimits, Limits, beside


class Machine:
    delayed = 0.0


def _allowed(machine: Machine) -> Allowance:
    return Allowance(4.0, 100.0, lambda: machine.delayed)


def test_who_had_a_processor_has_no_more_than_its_seconds() -> None:
    may = _allowed(Machine())
    assert may.look == 101.0
    assert not may.used_up(101.0, busy=False)
    assert may.look == 101.0 + LOOK
    assert not may.used_up(103.99, busy=False)
    assert may.look == 104.0
    assert may.used_up(104.0, busy=False)


def test_time_without_a_processor_is_given_once_more() -> None:
    machine = Machine()
    may = _allowed(machine)
    assert not may.used_up(101.0, busy=False)
    machine.delayed = 1.5
    assert not may.used_up(104.0, busy=False)
    assert not may.used_up(105.49, busy=False)
    assert may.used_up(105.5, busy=False)


def test_who_never_gets_one_ends_at_last() -> None:
    machine = Machine()
    may = _allowed(machine)
    for moment in range(101, 116):
        machine.delayed += 1.0
        assert not may.used_up(float(moment), busy=False)
    machine.delayed += 1.0
    assert may.used_up(116.0, busy=False)


LIMITS = Limits(hung_s=8.0, spins_s=2.0, much_s=0.5)


(SEED,) = seeds([(12, 1)])


def _case(path: str) -> Case:
    change = Change("bit_flips", path, 0, "")
    return Case(1, Recipe(SEED, (change,)), (struct.pack(">i", len(SEED.frame)) + SEED.frame,))


def _may(case: Case, *known: AlarmKind) -> EndLimits:
    return beside(case, LIMITS, known.__contains__)


def test_what_nobody_knows_has_half_of_the_time() -> None:
    assert _may(_case("error_code")) == EndLimits(4.0, 2.0)


def test_what_is_known_is_not_waited_for_in_full_again() -> None:
    case = _case("error_code")
    assert _may(case, waiting(case)) == EndLimits(2.0, 2.0)
    assert _may(case, spinning(case)) == EndLimits(4.0, 0.5)
    assert _may(case, waiting(_case("member_id"))) == EndLimits(4.0, 2.0)
