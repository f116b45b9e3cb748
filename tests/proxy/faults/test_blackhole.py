from __future__ import annotations

from tests.proxy.faults.given import CLOSED, UNANSWERED, Examples, Play, Row

EXAMPLES = Examples(
    {},
    rows=[Row("{at_most: 1s}", CLOSED, CLOSED, UNANSWERED)],
    live=["{at_most: 20ms}"],
    plays=[
        Play("nothing passes and nobody is told", "{at_most: 1m}",
             "ask 1 2 3; answer 1; end request; end response; wait 59999; sent 1; got; finished; open; "
             "wait 1; aborted", when="{skip: 1}"),
    ],
)  # fmt: skip
