"""What a trial needs before its client begins."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from barnabas.experiments.clients import preparation, trial
from barnabas.experiments.clients.preparation import prepare
from barnabas.experiments.clients.trial_setup import TrialSetup
from barnabas.experiments.clients.workloads import find
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.python import program
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.proxy.scenario.file import loads
from tests.captures.checks.given import S
from tests.captures.checks.groups import heartbeat, join


@pytest.mark.parametrize("makes", [True, False])
def test_brokers_that_are_gone_are_told_with_a_reason(
    makes: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(preparation, "SOON", 0.2)
    gone = TrialSetup("127.0.0.1:1", tmp_path, makes)
    with pytest.raises(OSError, match=r"^127\.0\.0\.1:1 has not made t: \S+"):
        prepare(gone, "t", find("produce"))


ACKNOWLEDGES = """
import json
input()
print(json.dumps({"event": "acknowledged", "id": "a", "topic": "t"}))
print(json.dumps({"number": 1, "raised": None}))
"""


def test_a_history_that_can_t_be_read_is_the_client_s_fault(tmp_path: Path) -> None:
    own = Program([sys.executable, "-c", ACKNOWLEDGES])
    with EmbeddedCluster(1) as cluster:
        place = TrialSetup(cluster.bootstrap, tmp_path / "0", makes=False)
        found = trial.trial(own, find("produce"), None, place, threading.Event())
    assert found.raised.startswith(
        "its events are invalid: history:1: 'a' is acknowledged, but no "
    )
    assert (found.code, found.findings) == (0, ())


REFUSED = loads("""
version: 1
rules:
  - name: heartbeats are not supported
    match: {api: ConsumerGroupHeartbeat, direction: request}
    where: "member_epoch > `0`"
    do: {respond: {error: UNSUPPORTED_VERSION}}
""")


def test_a_fatal_error_of_a_consumer_is_reported(tmp_path: Path) -> None:
    confluent = program(Path(sys.executable), "confluent")
    with EmbeddedCluster(1) as cluster:
        setup = TrialSetup(cluster.bootstrap, tmp_path / "0", makes=False)
        workload = find("consumer-protocol")
        ended = trial.trial(confluent, workload, REFUSED, setup, threading.Event())
    assert ended.raised.startswith("cimpl.KafkaException: KafkaError{code=_FATAL")


def test_a_member_whose_heartbeat_a_rule_delayed_was_not_silent() -> None:
    # responses are late, too: exchanges are in the order in which they end
    silent = [join(0), heartbeat(10 * S)]
    (text,) = trial.broken(silent)
    assert text.startswith("heartbeats: group g: member m (app) was silent for 10 s")
    delayed = replace(heartbeat(3 * S, took=9 * S), rules=("late",))
    assert trial.broken([*silent, delayed]) == ()
    assert len(trial.broken([*silent, replace(heartbeat(11 * S), rules=("late",))])) == 1


def test_brokers_that_make_no_topics_are_told_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(preparation, "SOON", 1.0)
    with EmbeddedCluster(1) as cluster, pytest.raises(OSError, match=r"use --broker librdkafka$"):
        prepare(TrialSetup(cluster.bootstrap, tmp_path), "t", find("produce"))


def test_silence_is_the_client_s_own_time_not_the_fault_s() -> None:
    hit = [heartbeat(0, took=1000), heartbeat(40 * S, took=1000)]
    assert trial._span(hit, hit) == pytest.approx(2000)
    busy = [*hit, *(heartbeat(at * S) for at in range(4, 40, 4))]
    assert trial._span(hit, busy) == pytest.approx(41_000)
