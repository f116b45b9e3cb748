from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.proxy.effects import Break
from barnabas.proxy.faults.truncate import Truncate, truncate
from tests.proxy.faults.given import (
    ALL,
    NONE,
    Examples,
    Fate,
    Row,
    ask,
    beat,
    message,
    only,
    slicings,
    stage,
)
from tests.proxy.playbook import Chunks

EXAMPLES = Examples(
    {},
    rows=[
        Row(
            "{keep: 6B}",
            Fate(NONE, NONE, "closed"),
            Fate(NONE, NONE, "closed"),
            Fate(ALL, NONE, "closed"),
        )
    ],
)


@given(st.floats(0, 1, exclude_max=True))
def test_something_leaves_and_something_is_missing(chance: float) -> None:
    size = message().size + 4
    effect = only(truncate, Truncate(), lambda: chance)
    assert 1 <= effect.keep < size


@pytest.mark.parametrize(("keep", "found"), [("0B", 1), ("9B", 9), ("1MB", message().size + 3)])
def test_keep_is_held_within_the_frame(keep: str, found: int) -> None:
    config = Truncate.model_validate({"keep": keep})
    assert only(truncate, config, float) == Break(found)


@slicings
def test_the_first_bytes_leave_and_both_sides_are_closed(chunks: Chunks) -> None:
    actor = stage("{truncate: 10B}", when="{skip: 1}")
    actor.ask(ask(1), chunks)
    actor.ask(ask(2)[:-1], chunks)
    assert not actor.aborted
    actor.ask(ask(2)[-1:])
    assert actor.sent["request"] == ask(1) + ask(2)[:10]
    assert actor.aborted


@slicings
def test_a_response_breaks_off(chunks: Chunks) -> None:
    actor = stage("{truncate: 7B}", "{api: Heartbeat, direction: response}")
    actor.ask(ask(1), chunks)
    actor.answer(beat(1)[:-1], chunks)
    actor.answer(beat(1)[-1:])
    assert actor.sent["response"] == beat(1)[:7]
    assert actor.aborted
