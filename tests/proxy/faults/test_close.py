from __future__ import annotations

from proxy.effects import HangUp
from proxy.faults.close import Close, close


def test_the_message_is_not_forwarded_unless_told() -> None:
    assert close(Close(), float) == HangUp(forward=False)
    assert close(Close(forward=True), float) == HangUp(forward=True)
