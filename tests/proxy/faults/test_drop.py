from __future__ import annotations

from tests.proxy.faults.given import ALL, NONE, Examples, Fate, Row

LOST, ONE_LOST = Fate(NONE, NONE, "lost"), Fate([2, 3], [2, 3])
EXAMPLES = Examples(
    {},
    rows=[
        Row("{}", LOST, LOST, Fate(ALL, NONE, "lost")),
        Row("{selective: true}", ONE_LOST, ONE_LOST, Fate(ALL, [2, 3])),
    ],
    live=["{}", "{selective: true}"],
    says=[("{}", "caution", "")],
)
