"""Which exceptions of a session another one in its process may have caused."""

from __future__ import annotations

import pytest

from barnabas.fuzz.targets.clients.alarms import BESIDE, UNSURE, alarm
from tests.fuzz.oracles.judging import of_client


@pytest.mark.parametrize(
    ("raised", "unsure"),
    [
        ("java.lang.OutOfMemoryError: Java heap space", True),
        ("java.lang.RuntimeException: java.lang.OutOfMemoryError: no direct memory", True),
        ("java.lang.RuntimeException: a length of -1", False),
    ],
)
def test_memory_may_have_been_used_by_other_sessions(raised: str, unsure: bool) -> None:
    kind = alarm(of_client(raised=raised, facts={BESIDE: 3}))
    assert (kind is not None and kind[0] == UNSURE) is unsure
    assert alarm(of_client(raised=raised)) is None
