"""Kafka Streams in front of real brokers, with a ready scenario between them."""

from __future__ import annotations

import threading
from pathlib import Path

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.experiments.clients.trial import CAPTURE, Place, Trial, trial
from barnabas.experiments.clients.workloads import find
from barnabas.peers.clients import registry
from tests.experiments.scenarios.kafka import VERSION, ready


def copied(scenario: str, bootstrap: str, folder: Path) -> tuple[Trial, list[Exchange]]:
    """What is known when it has copied a topic, exactly once, and its heartbeats in their order."""
    program = registry.find(f"kafka-streams@{VERSION}").prepare()
    place = Place(bootstrap, folder)
    work = find("read-process-write")._replace(records=40)
    told = trial(program, work, ready(scenario), place, threading.Event())
    found = [
        one
        for one in open_capture(folder / CAPTURE).exchanges()
        if one.api == "StreamsGroupHeartbeat"
    ]
    return told, sorted(found, key=lambda one: one.ts)
