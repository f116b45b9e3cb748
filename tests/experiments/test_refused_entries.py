"""Real clients of which some entries are refused: what brokers hold equals what clients were told.

A run's findings compare the client's history with the brokers' log and the group's offsets. A record that was
acknowledged and is not stored is a finding, and so is a record that is stored twice.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.experiments.clients import trial, trial_setup, workloads
from barnabas.experiments.clients.draws import plain
from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.clients import registry
from barnabas.proxy.faults.respond import Respond
from barnabas.proxy.rehearsal import Rehearsal
from barnabas.proxy.scenario.file import loads
from barnabas.specs import api
from barnabas.specs.entities import entity_fields, values_at
from tests.experiments.scenarios.kafka import made_topic, numbers, read_log, send
from tests.waiting import SOON

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
    rule("Produce", "NOT_LEADER_OR_FOLLOWER", "partition: 0", "skip: 2, every: 4, times: 10"),
)
# No batch is refused twice: meanwhile five newer ones may be stored, the broker no longer knows it as a
# duplicate (ProducerStateEntry has five), and Java repeats it until its delivery timeout.
STORED: Final = scenario(
    rule("Produce", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "partition: 3", "every: 11, times: 10",
         ", after: true"),
)  # fmt: skip

CELLS: Final = [
    *((client, "group", GROUP) for client in ALL),
    *((client, "read-process-write", COPY) for client in ALL),
    # The others use transactions v2, in which Produce adds partitions. No transaction of this workload is
    # aborted: an abort of librdkafka fails if the coordinator has no partition of the transaction.
    (LIBRDKAFKA, "read-process-write", TRANSACTIONS_V1),
    *((client, "share-group", SHARE) for client in ALL),
    *((client, "burst", IN_FLIGHT) for client in (JAVA, LIBRDKAFKA)),
    *((client, "burst", STORED) for client in (JAVA, LIBRDKAFKA)),
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
    drawn = plain(workloads.find(workload))
    if workload == "burst":  # sends that all wait for the producer id are one batch a partition
        drawn = drawn.model_copy(update={"pause": 0.05})
    setup = trial_setup.TrialSetup(cluster.bootstrap, tmp_path, drawn=drawn)
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


ADMIN: Final = scenario(
    rule("CreateTopics", "POLICY_VIOLATION", "topic: '*-refused'"),
    rule("DeleteRecords", "NOT_LEADER_OR_FOLLOWER", "partition: 1"),
)
MADE_ANYWAY: Final = scenario(
    rule("CreateTopics", "REQUEST_TIMED_OUT", "topic: '*-late'", more=", after: true")
)


def test_topics_and_records_of_an_administrator(cluster: ApacheCluster) -> None:
    names = ["only-made", "only-refused", "only-made-too"]
    direct = AdminClient({"bootstrap.servers": cluster.bootstrap})
    with Harness(cluster.bootstrap, scenario=loads(ADMIN)) as proxy:
        admin = AdminClient({"bootstrap.servers": proxy.bootstrap})
        told = outcomes(admin.create_topics([NewTopic(name, 1, 1) for name in names]))
    assert told == {"only-made": "", "only-refused": "POLICY_VIOLATION", "only-made-too": ""}
    made = direct.list_topics(timeout=SOON).topics
    assert [name in made for name in names] == [not told[name] for name in names]
    with Harness(cluster.bootstrap, scenario=loads(MADE_ANYWAY)) as proxy:
        admin = AdminClient({"bootstrap.servers": proxy.bootstrap})
        pair = [NewTopic(name, 1, 1) for name in ("only-late", "only-soon")]
        told = outcomes(admin.create_topics(pair))
    assert told == {"only-late": "REQUEST_TIMED_OUT", "only-soon": ""}
    assert {"only-late", "only-soon"} <= direct.list_topics(timeout=SOON).topics.keys()


def test_records_of_one_partition_are_not_deleted(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "only-deleted", 4)  # 0 and 3 have one leader, 1 another
    send(cluster.bootstrap, topic, numbers(16), partitions=4)
    before = [TopicPartition(topic, index, 3) for index in range(4)]
    with Harness(cluster.bootstrap, scenario=loads(ADMIN)) as proxy:
        admin = AdminClient({"bootstrap.servers": proxy.bootstrap})
        told = outcomes(admin.delete_records(before, request_timeout=SOON))
    assert list(told.values()) == ["", "NOT_LEADER_FOR_PARTITION", "", ""]
    stored = read_log(cluster.bootstrap, topic)
    assert [len(values) for values in stored.values()] == [1, 4, 1, 1]


def outcomes(futures: Mapping[Any, Future[Any]]) -> dict[str, str]:
    """Return the error's name for each entity of a request; "" without an error."""
    found = {}
    for entity, future in futures.items():
        problem = future.exception(SOON)
        found[str(entity)] = "" if problem is None else problem.args[0].name()
    return found
