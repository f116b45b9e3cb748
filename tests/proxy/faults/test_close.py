from __future__ import annotations

from barnabas.proxy.effects import HangUp
from tests.proxy.faults.given import ALL, CLOSED, NONE, UNANSWERED, Examples, Fate, Row, effect_of

SENT = Fate([1], NONE, "closed")
EXAMPLES = Examples(
    {},
    rows=[
        Row("{}", CLOSED, CLOSED, UNANSWERED),
        Row("{forward: true}", SENT, SENT, Fate(ALL, [1], "closed")),
    ],
)


def test_both_sides_are_closed_and_not_reset() -> None:
    assert effect_of("close", {}) == HangUp(forward=False, reset=False)
