"""What checks see of bodies, there and back."""

from __future__ import annotations

import pytest

from barnabas.captures.checks.facts import FACTS, FLAWS, Place
from barnabas.captures.checks.flaws import Flaw
from barnabas.captures.kafka.context import Context
from barnabas.pipeline.rows.columns import EXCHANGES, FLAW, PLACE, STRUCTS
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.rows.seen import facts, seen
from tests.captures.checks.test_corrupt_records import BROKEN, fetch
from tests.pipeline.given import sample
from tests.samples.recipes import SAMPLES

SEEN = tuple(column for column in EXCHANGES if column.name == "seen")


def test_the_columns_are_the_facts() -> None:
    assert [column.name for column in STRUCTS["seen"]] == [fact.name for fact in FACTS]
    assert tuple(column.name for column in PLACE) == Place._fields
    assert tuple(column.name for column in FLAW) == Flaw._fields


def test_flaws_of_records_come_back() -> None:
    one = fetch(BROKEN)
    (again,) = batch([{"seen": seen(one, Context())}], SEEN).to_pylist()
    assert facts(again["seen"])[FLAWS.name] == FLAWS.of(one) != ()


@pytest.mark.parametrize("name", [name for name, _ in SAMPLES])
def test_what_was_read_comes_back(name: str) -> None:
    for one, context in sample(name, strays=True):
        value = seen(one, context)
        (again,) = batch([{"seen": value}], SEEN).to_pylist()
        came = facts(again["seen"])
        for fact in FACTS:
            assert _without_nulls(came[fact.name]) == _without_nulls(fact.of(one, context))


def _without_nulls(value: object) -> object:
    """A field that is null is as good as none."""
    if isinstance(value, dict):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, (list, tuple)) else value


def test_of_a_row_that_has_none_nothing_is_known() -> None:
    assert facts(None) == dict.fromkeys(fact.name for fact in FACTS)
