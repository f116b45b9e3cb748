"""A member of a streams group does not hear that it has joined."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.streams import copied

pytestmark = pytest.mark.needs_apache("4.3.1")


def test_it_joins_again_and_each_record_is_copied_once(
    cluster: ApacheCluster, tmp_path: Path
) -> None:
    told, beats = copied("streams-join-reply-lost", cluster.bootstrap, tmp_path / "trial")
    assert (told.raised, told.findings, told.broken) == ("", (), ())
    lost, again = beats[:2]
    assert lost.rules == ("it has joined and does not hear of it",)
    assert lost.request is not None
    assert again.request is not None
    assert (lost.request["member_epoch"], again.request["member_epoch"]) == (0, 0)
    assert {beat.request["member_id"] for beat in beats if beat.request is not None} == {
        lost.request["member_id"]
    }
    assert not any(beat.error for beat in beats)
