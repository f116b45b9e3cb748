from __future__ import annotations

from tests.proxy.faults.given import Examples, Play, Row

EXAMPLES = Examples(
    {},
    rows=[Row("{count: 2}")],
    live=["{count: 2, at_most: 5ms}"],
    plays=[
        Play("messages leave together in their order", "{count: 3, at_most: 50ms}",
             "ask 1 2; sent; ask 3 4; sent 1 2 3; wait 60; sent 1 2 3 4; at 0 0 0 50; "
             "answer 1 2 3 4; got 1 2 3 4; idle"),
        Play("what comes in between keeps its place, and no more may come", "{count: 2, at_most: 50ms}",
             "ask 1 Produce2 3 Produce4; sent 1 Produce2 3 Produce4; ask 5 Produce6; "
             "sent 1 Produce2 3 Produce4; wait 50; ask 7; sent 1 Produce2 3 Produce4 5 Produce6; "
             "end request; sent 1 Produce2 3 Produce4 5 Produce6 7"),
        Play("a delay keeps its time when the batch is complete",
             "[{delay: 1s}, {coalesce: {count: 2, at_most: 9s}}]",
             "ask 1 2; wait 999; sent; wait 1; sent 1 2"),
        Play("a batch leaves when its rule goes", "{count: 9, at_most: 9s}",
             "ask 1 Produce2 3; replace; sent 1 Produce2 3"),
    ],
)  # fmt: skip
