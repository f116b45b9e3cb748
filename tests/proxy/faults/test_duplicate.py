from __future__ import annotations

from tests.proxy.faults.given import ALL, Examples, Fate, Play, Row

EXAMPLES = Examples(
    {},
    rows=[Row("{}", Fate([1, *ALL], [2, 3]), Fate([1, *ALL], ALL), Fate(ALL, [1, *ALL]))],
    plays=[
        Play("the broker is asked again and the client answered once", "{times: 2}",
             "ask 1 2; sent 1 1 1 2; answer 1 1 1 2; got 1 2; told 1 2; idle", when="{times: 1}"),
        Play("a response comes twice", "{}", "ask 1; answer 1; got 1 1; left response",
             match="{api: Heartbeat, direction: response}"),
    ],
)  # fmt: skip
