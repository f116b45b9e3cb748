"""A Java client that tests of scenarios share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from barnabas.peers.apache import UnavailableError
from tests.experiments.scenarios.java_errors import ErrorClient


@pytest.fixture(scope="module")
def java_errors() -> Iterator[ErrorClient]:
    """Return a Java client that continues after exceptions."""
    try:
        with ErrorClient() as running:
            yield running
    except UnavailableError as problem:
        pytest.skip(str(problem))
