"""How much time a session has, by a clock and delays that the test says."""

from __future__ import annotations

from barnabas.fuzz.targets.clients.allowance import LOOK, Allowance


class Machine:
    """For how long nobody had a processor."""

    delayed = 0.0


def _allowed(machine: Machine, seconds: float = 4.0) -> Allowance:
    return Allowance(seconds, 100.0, lambda: machine.delayed)


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
