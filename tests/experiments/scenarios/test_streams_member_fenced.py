"""A member of a streams group is fenced when it has its tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios.streams import copied

pytestmark = pytest.mark.needs_apache("4.3.1")


def test_it_joins_again_and_each_record_is_copied_once(
    cluster: ApacheCluster, tmp_path: Path
) -> None:
    told, beats = copied("streams-member-fenced", cluster.bootstrap, tmp_path / "trial")
    assert (told.raised, told.findings, told.broken) == ("", (), ())
    refused = [place for place, one in enumerate(beats) if one.rules]
    assert [beats[place].error for place in refused] == ["FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID"]
    for place in refused:
        before, after = beats[place].request, beats[place + 1].request
        assert before is not None
        assert after is not None
        assert after["member_epoch"] == 0
        assert after["member_id"] == before["member_id"]
