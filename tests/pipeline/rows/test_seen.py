"""What checks see of bodies, there and back."""

from __future__ import annotations

import pytest

from barnabas.captures.checks.facts import FACTS, FLAWS
from barnabas.captures.kafka.context import Context
from barnabas.pipeline.rows.columns import EXCHANGES
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.rows.seen import facts, seen
from tests.captures.checks.test_corrupt_records import BROKEN, fetch
from tests.pipeline.given import sample
from tests.samples.recipes import SAMPLES

SEEN = tuple(column for column in EXCHANGES if column.name == "seen")


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
