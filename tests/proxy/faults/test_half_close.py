from __future__ import annotations

from tests.proxy.faults.given import ALL, NONE, Examples, Fate, Play, Row

EXAMPLES = Examples(
    {},
    rows=[Row("{}", Fate([1], NONE, "lost"), Fate([1], [1], "lost"), Fate(ALL, [1], "lost"))],
    plays=[
        Play("the other direction goes on", "{}",
             "ask 1 2 3; sent 1 2; finished request; notes request lost after a dropped one; told "
             "3; "
             "answer 1 2; got 1 2; open; end request; finished request", when="{skip: 1, times: 1}"),
        Play("what waited already does not leave behind it", "[{delay: 100ms}, half_close]",
             "ask 1 2 3; wait 100; sent 1 2; finished request; notes request lost after a "
             "half-close; "
             "told 3; replace", when="{skip: 1, times: 1}"),
    ],
)  # fmt: skip
