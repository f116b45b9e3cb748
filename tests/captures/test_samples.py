"""Test the real captures in captures/samples: content, findings, and what tshark shows.

The expected values were reviewed when the samples were made; review them again after `python -m
tests.samples`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import pytest
from typer.testing import CliRunner

from barnabas.captures.checks.runner import run
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.cli.app import app
from tests import places
from tests.captures.checks.given import checks_named
from tests.captures.traffic import kafka_seen, marks, tshark
from tests.samples.recipes import PASSWORD, SAMPLES

FOLDER = places.SAMPLES

NAMES = tuple(name for name, _ in SAMPLES)

LOOKED_AT = checks_named(
    *("responses", "correlation_ids", "versions", "backoff", "fetch_loops", "leaders"),
    *("sequences", "order", "corrupt_records", "heartbeats", "joins", "rebalances"),
    *("commits", "group_states", "member_epochs"),
)
"""The checks whose findings were looked at by eye."""


@dataclass(frozen=True)
class Sample:
    """The expected content of a file."""

    apis: dict[str, int]
    """Exchanges by API."""
    findings: dict[str, int] = field(default_factory=dict)
    """By check."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Conversations that do not speak Kafka."""
    gaps: int = 0
    skipped: int = 0
    """Bytes of frames that began before the capture, or stand in a gap."""
    cut: int = 0
    """Segments of which not all was kept."""
    unread: int = 0
    """Frames that nobody asked for, as far as the file goes."""


EXPECTED = {
    "embedded.pcapng": Sample({"ApiVersions": 12, "Fetch": 4, "FindCoordinator": 2,
     "GetTelemetrySubscriptions": 2, "Heartbeat": 1, "JoinGroup": 1, "LeaveGroup": 1, "ListOffsets": 2,
     "Metadata": 6, "OffsetCommit": 1, "OffsetFetch": 1, "Produce": 6, "SyncGroup": 1}),
    "kip-848.pcapng": Sample({"ApiVersions": 8, "ConsumerGroupHeartbeat": 11, "Fetch": 9,
     "FindCoordinator": 5, "ListOffsets": 2, "Metadata": 12, "OffsetCommit": 1, "OffsetFetch": 3,
     "Produce": 6}),
    "flapping.pcapng": Sample({"ApiVersions": 8, "CreateTopics": 1, "FindCoordinator": 3, "Heartbeat": 49,
     "JoinGroup": 18, "LeaveGroup": 5, "ListOffsets": 14, "Metadata": 5, "OffsetFetch": 15, "SyncGroup": 13},
     findings={"rebalances": 2}),
    "transactions.pcapng": Sample({"ApiVersions": 7, "EndTxn": 2, "Fetch": 3, "FindCoordinator": 6,
     "InitProducerId": 3, "JoinGroup": 2, "LeaveGroup": 1, "ListOffsets": 1, "Metadata": 6, "OffsetCommit": 1,
     "OffsetFetch": 1, "Produce": 3, "SyncGroup": 1, "TxnOffsetCommit": 1}),
    "old-formats.pcap": Sample({"ApiVersions": 5, "Fetch": 2, "FindCoordinator": 3, "JoinGroup": 1,
     "LeaderAndIsr": 2, "LeaveGroup": 1, "ListOffsets": 2, "Metadata": 6, "OffsetCommit": 1, "OffsetFetch": 1,
     "Produce": 4, "SyncGroup": 1, "UpdateMetadata": 2}, gaps=2),
    "rebalance.pcap.gz": Sample({"ApiVersions": 13, "Fetch": 34, "FindCoordinator": 3, "Heartbeat": 1,
     "JoinGroup": 5, "LeaveGroup": 2, "ListOffsets": 2, "Metadata": 9, "OffsetCommit": 1, "OffsetFetch": 3,
     "Produce": 8, "SyncGroup": 3}),
    "beside.pcapng": Sample({"ApiVersions": 10, "Fetch": 5, "FindCoordinator": 2,
     "GetTelemetrySubscriptions": 2, "Heartbeat": 1, "JoinGroup": 1, "LeaveGroup": 1, "ListOffsets": 2,
     "Metadata": 6, "OffsetCommit": 1, "OffsetFetch": 1, "Produce": 4, "SyncGroup": 1},
     left_out={"HTTP": 1, "TLS": 1, "unknown": 1}),
    "midway.pcap": Sample({"ApiVersions": 2, "Fetch": 7, "Metadata": 1, "OffsetCommit": 1, "Produce": 5},
     gaps=4, skipped=232),
    "cut-short.pcap.zst": Sample({"ApiVersions": 7, "Fetch": 3, "FindCoordinator": 4, "Heartbeat": 1,
     "JoinGroup": 2, "LeaveGroup": 1, "ListOffsets": 2, "Metadata": 11, "OffsetCommit": 1, "OffsetFetch": 1,
     "Produce": 5, "SyncGroup": 1}, gaps=13, skipped=3461, cut=13),
    "faults.pcapng": Sample({"ApiVersions": 18, "Fetch": 9, "FindCoordinator": 2,
     "GetTelemetrySubscriptions": 2, "Heartbeat": 1, "JoinGroup": 1, "LeaveGroup": 1, "ListOffsets": 2,
     "Metadata": 7, "OffsetCommit": 1, "OffsetFetch": 1, "Produce": 7, "SyncGroup": 1}),
    "wrong.pcap": Sample({"ApiVersions": 2, "Fetch": 14, "FindCoordinator": 1, "JoinGroup": 1,
     "LeaveGroup": 1, "ListTransactions": 1, "Metadata": 3, "OffsetCommit": 1, "Produce": 13, "SyncGroup": 1},
     findings={"correlation_ids": 1, "versions": 1, "leaders": 1, "backoff": 1, "fetch_loops": 1,
     "commits": 1}, gaps=2, skipped=326),
    "sasl.pcapng": Sample({"ApiVersions": 5, "Fetch": 4, "FindCoordinator": 3, "Heartbeat": 1, "JoinGroup": 2,
     "LeaveGroup": 1, "ListOffsets": 2, "Metadata": 8, "OffsetCommit": 1, "OffsetFetch": 1, "Produce": 3,
     "SaslAuthenticate": 5, "SaslHandshake": 5, "SyncGroup": 1}),
    "tls.pcapng": Sample({"ApiVersions": 2, "Metadata": 2, "Produce": 4}),
}  # fmt: skip


def read(name: str) -> tuple[CaptureReader, Conversations, list[Exchange]]:
    reader, conversations = CaptureReader(FOLDER / name), Conversations(strays=True)
    return reader, conversations, list(conversations.exchanges(reader))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_in_it(name: str) -> None:
    reader, conversations, exchanges = read(name)
    kinds: Counter[str] = Counter()
    for (_, kind), count in reader.left_out.items():
        kinds[kind] += count
    seen = Sample(
        dict(Counter(exchange.api for exchange in exchanges)),
        dict(Counter(check.name for check, _ in run(exchanges, LOOKED_AT))),
        dict(kinds),
        conversations.losses,
        conversations.skipped,
        reader.packets.cut,
        conversations.undecoded,
    )
    assert seen == EXPECTED[name]
    assert [exchange.undecodable for exchange in exchanges if exchange.undecodable] == []
    assert not reader.truncated
    assert reader.packets.foreign == 0


def test_the_readme_has_all_files_and_no_others() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (\d+) ", (FOLDER / "README.md").read_text(), re.M)
    counts = {name: sum(sample.apis.values()) for name, sample in EXPECTED.items()}
    assert {name: int(count) for name, count in rows} == counts
    assert {path.name for path in FOLDER.iterdir()} == {*NAMES, *EXPECTED, "README.md"}


def test_the_password_is_not_to_be_found() -> None:
    data = (FOLDER / "sasl.pcapng").read_bytes()
    assert PASSWORD.encode() not in data
    _, _, exchanges = read("sasl.pcapng")
    said = {exchange.sasl for exchange in exchanges if exchange.api == "SaslAuthenticate"}
    assert said == {"PLAIN alice → authenticated"}
    before = ("ApiVersions", "SaslHandshake", "SaslAuthenticate")
    assert {exchange.user for exchange in exchanges if exchange.api in before} == {None}
    assert {exchange.user for exchange in exchanges if exchange.api not in before} == {"alice"}


def test_what_the_rules_did_is_said_and_can_be_rehearsed() -> None:
    _, _, exchanges = read("faults.pcapng")
    assert Counter(rule for exchange in exchanges for rule in exchange.rules) == {
        "slow produce": 2,
        "the leader is busy": 1,
        "the connection is cut": 1,
        "a commit is overtaken": 1,
    }
    done = CliRunner().invoke(app, ["rehearse", "--check", str(FOLDER / "faults.pcapng")])
    assert done.exit_code == 0
    assert "0 of 103 decisions differ from the capture" in done.output


@pytest.mark.needs_tshark
@pytest.mark.parametrize("name", [name for name in NAMES if name != "tls.pcapng"])
def test_tshark_reads_the_same(name: str) -> None:
    reader, conversations, exchanges = read(name)
    ports = {int(exchange.server_address.rpartition(":")[2]) for exchange in exchanges}
    frames = kafka_seen(FOLDER / name, ports)
    seen = Counter(frame[:2] for frame in frames)
    requests = Counter((exchange.request_packet, exchange.correlation_id) for exchange in exchanges)
    responses = Counter(
        (exchange.response_packet, exchange.correlation_id)
        for exchange in exchanges
        if exchange.response_packet
    )
    if reader.packets.cut:  # tshark does not look for the next frame
        assert len(tshark(FOLDER / name, "-e", "frame.number")) == 190
        return
    assert requests <= seen
    mine = {frame for frame in marks(exchanges) if frame.version >= 0}
    assert mine <= {frame for frame in frames if frame.version >= 0}
    if not reader.meta:  # of ours, it has the responses as they arrived
        assert responses <= seen
        # answers to what was asked before the capture began
        assert (seen - requests - responses).total() <= conversations.losses


@pytest.mark.needs_tshark
def test_tshark_decrypts_the_same_with_the_keys_in_the_file() -> None:
    path = FOLDER / "tls.pcapng"
    _, _, exchanges = read(path.name)
    ports = {int(exchange.server_address.rpartition(":")[2]) for exchange in exchanges}
    chosen = [word for port in ports for word in ("-d", f"tls.port=={port},kafka")]
    fields = ("-e", "frame.number", "-e", "kafka.correlation_id", "-E", "occurrence=a")
    lines = tshark(path, *chosen, "-Y", "kafka", *fields)
    seen = {(int(frame), int(number)) for frame, number in (line.split("\t") for line in lines)}
    requests = {(exchange.request_packet, exchange.correlation_id) for exchange in exchanges}
    responses = {(exchange.response_packet, exchange.correlation_id) for exchange in exchanges}
    assert seen == requests | responses
