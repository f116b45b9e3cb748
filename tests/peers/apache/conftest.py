"""Tests marked `needs_apache("3.9.1")` are skipped where Java or that version can't be had."""

from __future__ import annotations

import pytest

from peers.apache.artifacts import class_path
from peers.apache.errors import UnavailableError
from peers.apache.java import java
from peers.apache.versions import release


@pytest.fixture(autouse=True)
def _at_hand(request: pytest.FixtureRequest) -> None:
    marker = request.node.get_closest_marker("needs_apache")
    if marker is None:
        return
    try:
        java()
        for version in marker.args:
            class_path(release(version).coordinates)
    except UnavailableError as problem:
        pytest.skip(str(problem))
