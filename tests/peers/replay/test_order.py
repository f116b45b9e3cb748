from __future__ import annotations

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.replay.order import TooLarge, in_order, index


def sized(ts: int, connection: int = 1, size: int = 10) -> Exchange:
    return Exchange(ts, connection, "", "a", 1, 3, 1, 0, size)


def test_the_order_is_that_of_requests() -> None:
    recorded = [sized(5, 1), sized(2, 2), sized(7, 1), sized(6, 2)]
    found = index(recorded)
    assert found.began == 2
    assert found.last == {1: 2, 2: 3}
    assert [one.ts for _, one in in_order(recorded, found.order)] == [2, 5, 6, 7]


def test_what_waits_too_long_is_too_much() -> None:
    recorded = [sized(ts, size=1000) for ts in (3, 4, 5)] + [sized(1)]
    with pytest.raises(TooLarge):
        list(in_order(recorded, index(recorded).order, limit=2500))
    assert len(list(in_order(recorded, index(recorded).order, limit=3500))) == 4
