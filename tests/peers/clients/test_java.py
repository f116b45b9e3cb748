"""Java clients that are not run."""

from __future__ import annotations

import pytest

from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.java import java_program


def test_a_release_of_streams_that_is_too_old_is_told() -> None:
    pytest.importorskip("jpype")
    with pytest.raises(UnavailableClientError, match=r"kafka-streams 1\.0\.0 is too old.*3\.3 on"):
        java_program("kafka-streams", "kafka_streams", "1.0.0")
