"""Several sessions in one process, of a client of the tests' own: who is to blame for what becomes of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from barnabas.fuzz.targets.clients.limits import Limits
from tests.fuzz.targets.clients.own_target import cases_of, facts, own_target

BESIDE = Path(__file__).with_name("beside_client.py")
TOGETHER = Limits(in_a_process=9, hung_s=60.0)


def _target(limits: Limits = TOGETHER) -> Any:
    return own_target(line=[sys.executable, str(BESIDE)], limits=limits, side_by_side=4)


def test_sessions_side_by_side_have_one_process() -> None:
    with _target() as target:
        found = list(target.run(cases_of(*[b"patient"] * 12)))
        (process,) = target._processes._all
        assert process.begun >= len(found)
    assert [one.case.number for one in found] == list(range(12))
    assert all(facts(one)["served"] and not one.death for one in found)


def test_a_death_is_blamed_on_the_case_that_dies_alone() -> None:
    words = [b"fine"] * 6 + [b"patient"] * 3 + [b"die"] + [b"patient"] * 3
    with _target() as target:
        found = list(target.run(cases_of(*words)))
    dead = [one for one in found if one.death is not None]
    assert {one.case.number for one in dead} == {9}
    assert all(facts(one)["confirmed"] for one in dead)
    assert {one.case.number for one in found} == set(range(len(words)))


def test_who_hangs_does_not_end_those_beside_it() -> None:
    with _target(TOGETHER._replace(hung_s=1.0)) as target:
        found = list(target.run(cases_of(b"hang", *[b"patient"] * 20)))
    assert [one.probe is None for one in found] == [False] + [True] * 20
    assert not any(one.death for one in found)
    assert facts(found[0])["confirmed"]


def test_what_may_be_another_sessions_is_run_alone() -> None:
    with _target() as target:
        found = list(target.run(cases_of(*[b"patient", b"unsure"] * 6)))
    assert [one.case.number for one in found] == list(range(12))
    assert not any(one.raised for one in found)
