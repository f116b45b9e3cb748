from __future__ import annotations

from tests.proxy.faults.given import Examples, Play, Row

EXAMPLES = Examples(
    {"time": "1s"},
    rows=[Row("{time: 1s, side: both}")],
    live=["{time: 5ms, side: both}"],
    says=[("{time: 0s}", "no_op", "time"), ("{time: 1s}", "no_op", "")],
    plays=[
        Play(f"nothing is read for a while from {side}, and the message itself leaves",
             f"{{time: 100ms, side: {side}}}",
             f"ask 1; full; ask 2; sent 1 2; full {full}; wait 99; full {full}; wait 1; full; "
             "answer 1 2; got 1 2",
             when="{skip: 1, times: 1}")
        for side, full in (("client", "request"), ("broker", "response"), ("both", "request response"))
    ],
)  # fmt: skip
