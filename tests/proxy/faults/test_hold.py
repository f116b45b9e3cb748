from __future__ import annotations

import pytest

from proxy.effects import Aside, Same
from proxy.faults.hold import Hold, hold
from tests.proxy.faults.given import only


def test_it_stands_aside_for_half_a_minute_unless_told() -> None:
    config = Hold.model_validate({"until": {"api": "JoinGroup"}})
    assert only(hold, config, float) == Aside(30_000_000_000, until=config.until, same="connection")


@pytest.mark.parametrize("same", ["connection", "client", "group", "any"])
def test_it_says_where_the_other_one_must_pass(same: Same) -> None:
    config = Hold.model_validate({"until": {"same": same}, "at_most": "5s"})
    effect = only(hold, config, float)
    assert (effect.at_most, effect.same) == (5_000_000_000, same)
    assert effect.until is not None
    assert effect.until.key_matches("response", 3, 0)
