from __future__ import annotations

from barnabas.proxy.effects import Halt
from tests.proxy.faults.given import Examples, Play, Row, effect_of

RESPONSES = "{api: Heartbeat, direction: response}"
EXAMPLES = Examples(
    {},
    rows=[Row("2s")],
    live=["3ms"],
    plays=[
        Play("what is behind it waits until its time is up", "2s",
             "ask 1 2; wait 1999; sent; wait 1; sent 1 2; fired 1; released 0; expired 1; "
             "halted", when="{times: 1}"),
        Play("when the client has gone a request leaves", "{}",
             "ask 1; halted 1.1; end request; halted; sent 1; released 0; expired 0; ended 1"),
        Play("when the client has gone a response leaves", "{}",
             "ask 1; answer 1; halted 1.1; end request; halted; got 1; released 0; expired 0; "
             "ended 1", match=RESPONSES),
        Play("when the broker has gone a request leaves and a response waits on", "{}",
             "ask 1; decide 1.1; answer 1; ask 2; end response; halted 1.2; "
             "sent 1 2", match="{api: Heartbeat}"),
        Play("when its rule lets go it leaves", "{}",
             "ask 1 2; answer 1 2; release other; got; release r; got 1 2; released 2", match=RESPONSES),
        Play("when its rule is gone it leaves", "{}", "ask 1; sent; replace; sent 1"),
        Play("when its connection is closed it waits no longer", "{}", "ask 1; halted 1.1; close; halted"),
    ],
)  # fmt: skip

S = 1_000_000_000


def test_it_waits_for_five_minutes_unless_told() -> None:
    assert effect_of("breakpoint", {}) == Halt(300 * S)
    assert effect_of("breakpoint", {"at_most": "2s"}) == Halt(2 * S)
