from __future__ import annotations

from barnabas.proxy.effects import HangUp
from barnabas.proxy.faults.close import Close, close
from tests.proxy.faults.given import ALL, NONE, Examples, Fate, Row, only

EXAMPLES = Examples(
    {},
    rows=[
        Row(
            "{}", Fate(NONE, NONE, "closed"), Fate(NONE, NONE, "closed"), Fate(ALL, NONE, "closed")
        ),
        Row(
            "{forward: true}",
            Fate([1], NONE, "closed"),
            Fate([1], NONE, "closed"),
            Fate(ALL, [1], "closed"),
        ),
    ],
)


def test_the_message_is_not_forwarded_unless_told() -> None:
    assert only(close, Close(), float) == HangUp(forward=False)
    assert only(close, Close(forward=True), float) == HangUp(forward=True)
