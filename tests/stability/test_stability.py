"""What others may rely on is as it was recorded, or somebody decides that it changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.stability.compare import compare
from tests.stability.promises import PROMISES, recording

HOW = """{name} is not as recorded in tests/stability/{name}.json.

{changes}

Others rely on it (docs/stability.md). If the change is meant, write it in CHANGELOG.md{raise_it},
and record it: python -m tests.stability"""

RAISE = (
    ' under "Changed" or "Removed" as breaking,\nwith the version that docs/stability.md asks for'
)


@pytest.mark.parametrize("promise", PROMISES)
def test_it_is_as_recorded(promise: Callable[[], Any]) -> None:
    changes = compare(json.loads(recording(promise).read_text()), promise())
    lines = [f"{kind}: {line}" for kind, them in changes._asdict().items() for line in them]
    if lines:
        pytest.fail(
            HOW.format(
                name=promise.__name__,
                changes="\n".join(lines),
                raise_it=RAISE if changes.breaking else "",
            ),
            pytrace=False,
        )
