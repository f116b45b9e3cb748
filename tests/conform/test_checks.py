"""Each check passes on what Apache Kafka answered, and fails on a wrong answer."""

from __future__ import annotations

import pytest

from barnabas.conform.catalog import CHECKS
from barnabas.conform.check import Check
from barnabas.conform.verdicts import Failed
from tests.conform.recordings import Recording, recordings
from tests.conform.wrong_answers import WRONG

RECORDED = {
    name: one for area in {check.area for check in CHECKS} for name, one in recordings(area).items()
}


def recording(check: Check) -> Recording:
    return RECORDED[check.name]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_it_passes_on_what_apache_kafka_answered(check: Check) -> None:
    recording(check).run(check)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_it_fails_on_a_wrong_answer(check: Check) -> None:
    with pytest.raises(Failed):
        recording(check).run(check, WRONG[check.name])


def test_names_are_unique() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS) == len(WRONG) == len(RECORDED)
