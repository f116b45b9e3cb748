from __future__ import annotations

from barnabas.proxy.effects import Lose
from barnabas.proxy.faults.drop import Drop, drop
from tests.proxy.faults.given import only


def test_what_is_behind_is_lost_too_unless_told() -> None:
    assert only(drop, Drop(), float) == Lose(selective=False)
    assert only(drop, Drop(selective=True), float) == Lose(selective=True)
