from __future__ import annotations

from barnabas.proxy.effects import Lose
from barnabas.proxy.faults.drop import Drop, drop
from tests.proxy.faults.given import ALL, NONE, Examples, Fate, Row, only

EXAMPLES = Examples(
    {},
    rows=[
        Row("{}", Fate(NONE, NONE, "lost"), Fate(NONE, NONE, "lost"), Fate(ALL, NONE, "lost")),
        Row("{selective: true}", Fate([2, 3], [2, 3]), Fate([2, 3], [2, 3]), Fate(ALL, [2, 3])),
    ],
    live=["{}", "{selective: true}"],
)


def test_what_is_behind_is_lost_too_unless_told() -> None:
    assert only(drop, Drop(), float) == Lose(selective=False)
    assert only(drop, Drop(selective=True), float) == Lose(selective=True)
