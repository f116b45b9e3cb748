from __future__ import annotations

from functools import partial

import pytest

from barnabas.proxy.effects import Break
from tests.proxy.faults.given import (
    CLOSED,
    UNANSWERED,
    Examples,
    Row,
    effect_of,
    message,
    requests,
    stage,
)
from tests.proxy.frames import Chunks, slicings

EXAMPLES = Examples({}, rows=[Row("{keep: 6B}", CLOSED, CLOSED, UNANSWERED)])

LONGEST = message().size + 3


def test_each_length_may_come() -> None:
    rolls = [(n + 0.5) / LONGEST for n in range(LONGEST)]
    found = [effect_of("truncate", {}, roll=partial(float, roll)).keep for roll in rolls]
    assert found == list(range(1, LONGEST + 1))


@pytest.mark.parametrize(("keep", "found"), [("0B", 1), ("9B", 9), ("1MB", LONGEST)])
def test_keep_is_held_within_the_frame(keep: str, found: int) -> None:
    assert effect_of("truncate", {"keep": keep}) == Break(found)


@slicings
def test_the_first_bytes_leave_and_both_sides_are_closed(chunks: Chunks) -> None:
    actor = stage("{truncate: 10B}", when="{skip: 1}")
    actor.ask(requests(1), chunks)
    actor.ask(requests(2)[:-1], chunks)
    assert not actor.aborted
    actor.ask(requests(2)[-1:])
    assert actor.sent["request"] == requests(1) + requests(2)[:10]
    assert actor.aborted
