"""Real clients of which some entries are refused: what brokers hold equals what clients were told.

A run's findings compare the client's history with the brokers' log and the group's offsets. A record that was
acknowledged and is not stored is a finding, and so is a record that is stored twice.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.experiments.clients import trial, workloads
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.clients import registry
from barnabas.proxy.faults.respond import Respond
from barnabas.proxy.rehearsal import Rehearsal
from barnabas.proxy.scenario.file import loads
from barnabas.specs import api
from barnabas.specs.entities import entity_fields, values_at

pytestmark = [
    pytest.mark.needs_apache("4.3.1"),
    pytest.mark.slow("a client works for seconds"),
]

JAVA: Final = "java@4.3.1"
LIBRDKAFKA: Final = "confluent-kafka@2.16.1"
FRANZ_GO: Final = "franz-go@1.22.3"
ALL: Final = (JAVA, LIBRDKAFKA, FRANZ_GO)


def rule(name: str, error: str, only: str, when: str = "times: 2", more: str = "") -> str:
    return (
        f"- {{name: {name}, match: {{api: {name}, direction: request}}, when: {{scope: rule, {when}}},"
        f" do: {{respond: {{error: {error}, only: {{{only}}}{more}}}}}}}\n"
    )


def scenario(*rules: str) -> str:
    return f"version: 1\nseed: 7\nrules:\n{''.join(rules)}"


GROUP: Final = scenario(
    rule("FindCoordinator", "COORDINATOR_NOT_AVAILABLE", "group: '*'", "times: 1"),
    rule("Metadata", "LEADER_NOT_AVAILABLE", "topic: 'clients-*', partition: 2"),
    rule("ListOffsets", "LEADER_NOT_AVAILABLE", "partition: 3"),
    rule("OffsetFetch", "UNSTABLE_OFFSET_COMMIT", "partition: [0, 2]"),
    rule("Fetch", "NOT_LEADER_OR_FOLLOWER", "partition: 1", "every: 2, times: 2"),
    rule("OffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS", "partition: 0", "every: 2, times: 2"),
)
COPY: Final = scenario(
    rule(
        "TxnOffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS", "partition: [0, 1]", "skip: 1, times: 2"
    ),
    rule("Produce", "NOT_LEADER_OR_FOLLOWER", "transactional_id: '*'", "skip: 4, times: 2"),
)
TRANSACTIONS_V1: Final = scenario(
    rule(
        "AddPartitionsToTxn",
        "COORDINATOR_LOAD_IN_PROGRESS",
        "partition: [0, 1]",
        "skip: 2, times: 3",
    ),
)
SHARE: Final = scenario(
    rule("ShareFetch", "NOT_LEADER_OR_FOLLOWER", "partition: 1-2"),
    rule("ShareAcknowledge", "NOT_LEADER_OR_FOLLOWER", "partition: 0", "times: 1"),
)
IN_FLIGHT: Final = scenario(
    rule("Produce", "NOT_LEADER_OR_FOLLOWER", "partition: 1", "skip: 2, every: 4, times: 10"),
)
STORED: Final = scenario(
    rule("Produce", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "partition: 2", "every: 4, times: 10",
         ", after: true"),
)  # fmt: skip

CELLS: Final = [
    *((client, "group", GROUP) for client in ALL),
    *((client, "read-process-write", COPY) for client in ALL),
    (
        LIBRDKAFKA,
        "transact",
        TRANSACTIONS_V1,
    ),  # the others use transactions v2: Produce adds partitions
    *((client, "share-group", SHARE) for client in ALL),
    *((client, "burst", IN_FLIGHT) for client in (JAVA, LIBRDKAFKA)),
    (LIBRDKAFKA, "burst", STORED),
]


@pytest.mark.parametrize(
    ("client", "workload", "text"), CELLS,
    ids=[f"{cell[0].partition('@')[0]}-{cell[1]}-{number}" for number, cell in enumerate(CELLS)],
)  # fmt: skip
def test_what_brokers_hold_is_what_clients_were_told(
    client: str, workload: str, text: str, cluster: ApacheCluster, tmp_path: Path
) -> None:
    planned = loads(text)
    program = registry.find(client).prepare()
    setup = trial.TrialSetup(cluster.bootstrap, tmp_path)
    result = trial.trial(program, workloads.find(workload), planned, setup, threading.Event())
    assert (result.raised, result.findings, result.unfinished) == ("", (), "")
    capture = tmp_path / trial.CAPTURE
    exchanges = list(open_capture(capture).exchanges())
    for config in planned.rules:
        refused = [exchange for exchange in exchanges if config.name in exchange.rules]
        assert refused, f"{config.name} never fired"
        fault = config.do[0].config
        assert isinstance(fault, Respond)
        for exchange in refused:
            told = {each: code == fault.error for each, code in partitions(exchange)}
            assert told == {each: chosen(fault, each) for each in told}
    reader = CaptureReader(capture)
    rehearsal = Rehearsal(planned, reader.meta["began"]).run(reader)
    assert [each for each in rehearsal if each.decision != each.recorded] == []


def chosen(fault: Respond, partition: int) -> bool:
    """Return whether `only` chooses a partition."""
    assert fault.only is not None
    ranges = fault.only.partition
    return ranges is None or any(low <= partition <= high for low, high in ranges)


def partitions(exchange: Exchange) -> Iterator[tuple[int, int]]:
    """Yield the partitions in the response of which the client was told an error or none."""
    codec = api(exchange.key).response.codec(exchange.version)
    fields = entity_fields(exchange.key, "response", exchange.version)
    (path,) = [path for path, kind in fields.items() if kind == "partition"] or [()]
    if path:
        for entry in values_at(codec.decode(exchange.response_body or b""), path[:-1]):
            code = next(name for name in entry if name.endswith("error_code"))
            yield entry[path[-1]], entry[code]
