"""Kafka Streams copies a topic, exactly once, while a member of its group joins again."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from barnabas.captures.capture import open_capture
from barnabas.experiments.clients import preparation, trial, trial_setup
from barnabas.experiments.clients.workloads import find
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.clients import registry
from tests.experiments.scenarios.kafka import VERSION, ready

pytestmark = pytest.mark.needs_apache("4.3.1")


@pytest.mark.parametrize(
    ("scenario", "errors"),
    [
        ("streams-join-reply-lost", [""]),
        ("streams-member-fenced", ["FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID"]),
    ],
)
def test_it_joins_again_and_each_record_is_copied_once(
    scenario: str,
    errors: list[str],
    cluster: ApacheCluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(preparation, "SOON", 60.0)
    program = registry.find(f"kafka-streams@{VERSION}").prepare()
    work = find("read-process-write")._replace(records=40)
    place = trial_setup.TrialSetup(cluster.bootstrap, tmp_path / "trial")
    told = trial.trial(program, work, ready(scenario), place, threading.Event())
    assert (told.raised, told.findings, told.broken) == ("", (), ())
    exchanges = open_capture(place.folder / trial.CAPTURE).exchanges()
    beats = [one for one in exchanges if one.api == "StreamsGroupHeartbeat"]
    beats.sort(key=lambda one: one.ts)
    hit = [number for number, one in enumerate(beats) if one.rules]
    assert [beats[number].error for number in hit] == errors
    for number in hit:
        before, after = beats[number].request, beats[number + 1].request
        assert before is not None
        assert after is not None
        assert after["member_epoch"] == 0
        assert after["member_id"] == before["member_id"]
    if scenario == "streams-join-reply-lost":
        assert beats[0].rules == ("it has joined and does not hear of it",)
        assert not any(beat.error for beat in beats)
        assert len({beat.request["member_id"] for beat in beats if beat.request}) == 1
