"""Compares statements of the protocol guide of 0.8 with brokers from 0.8.2.2 to 4.3.1.

Each is tested in the guide's version, v0, and where a broker closes the connection at that, in the oldest
version that 4.x accepts (KIP-896) and to which the statement applies. There are two brokers, since some
statements are about followers. Statements that require a killed or stopped broker are left out: see
tests/designs/protocol_guide/client_0_8. It belongs to document 002, the guide, whose statements it tests.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from barnabas.designs.protocol_guide import probes
from barnabas.designs.protocol_guide.client_0_8 import Client, Group
from barnabas.designs.protocol_guide.client_0_8.topics import make_topic
from barnabas.designs.protocol_guide.probes import CLOSES, PLACE, Peer, code
from barnabas.designs.results.markdown import paragraphs, table
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.peers.apache import ApacheCluster
from barnabas.specs.error_codes import ERROR_CODES

QUESTION: Final = (
    "Where is the protocol guide of 0.8 wrong or silent, and what did brokers of six versions do?"
)
VERSIONS: Final = ("0.8.2.2", "0.9.0.1", "0.11.0.1", "2.8.0", "3.9.1", "4.3.1")
BROKERS: Final = 2
SETTINGS: Final = {"socket.request.max.bytes": str(probes.LIMIT)}
PATIENCE: Final = 30.0
"""Seconds that brokers may take for coordinators and leaders after their start."""
AS_SAID: Final = "as the guide says"
V0, PRODUCE, FETCH = (0,), (0, 3), (0, 4)
"""Versions of an API: the guide's, and the oldest one of 4.x."""


class Statement(NamedTuple):
    """A statement of the guide. right: what a broker does then; None: the guide is silent."""

    says: str
    right: str | None
    probe: Callable[[Peer, int], str]
    versions: tuple[int, ...] = V0


# fmt: off
STATEMENTS: Final = {
    "v0": Statement("nothing of what becomes of v0", None, probes.any_api),
    "acks-0": Statement(
        'acks=0: "the server responds immediately"', "an answer", probes.no_acknowledgement, PRODUCE),
    "acks-2": Statement(
        'acks=2, with two replicas: "the server will block waiting for this number of acknowledgements"',
        code(0), probes.error_of_produce(acks=2), PRODUCE),
    "acks-5": Statement(
        'acks=5, with two replicas: "the server will never wait for more acknowledgements than there are '
        'in-sync replicas"', code(0), probes.error_of_produce(acks=5), PRODUCE),
    "checksum": Statement(
        'code 2: "a message contents does not match its CRC"', code(2),
        probes.error_of_produce(probes.flipped), PRODUCE),
    "size": Statement(
        'code 4: "The message has a negative size"', code(4),
        probes.error_of_produce(probes.negative_size), PRODUCE),
    "size-inside": Statement("the same in a compressed set", code(4), probes.negative_size_inside),
    "set-offset": Statement(
        'Produce answers "the offset assigned to the first message in the message set" (a compressed one)',
        "of the first one inside", probes.offset_of_a_compressed_set, PRODUCE),
    "set-middle": Statement(
        "nothing of what a Fetch from the middle of a compressed set gives", None,
        probes.middle_of_a_compressed_set, PRODUCE),
    "fetch-layout": Statement(
        "a Fetch response has no topic names, and a FetchedOffset", "no topic names, FetchedOffset",
        probes.layout_of_a_fetch, FETCH),
    "replica-id": Statement(
        'replica id -2: a fetch "as if it were a replica broker"', "a follower gives records",
        probes.debugging_fetch, FETCH),
    "offset-layout": Statement(
        "an Offset request has no replica id", "answers", probes.offset_request_as_laid_out),
    "offset": Statement(
        'an Offset response has "the starting offset of each segment" and the log end', "segment and end",
        probes.offsets),
    "limit": Statement(
        'a request over the limit "will result in the socket being disconnected"', "disconnects",
        probes.beyond_the_limit),
    "leader": Statement(
        'code 5: "there is currently no leader" (Metadata that make a topic)', code(5),
        probes.leader_of_a_new_topic),
    "internal": Statement(
        'code 8: "used only internally" (ControlledShutdown v0 of a broker that is not there)', code(8),
        probes.shutdown_of_an_unknown_broker),
    "commit-v0": Statement(
        "nothing of what OffsetCommit v0 keeps, and for whom", None, probes.committed("zookeeper", "kafka")),
    "commit-v1": Statement(
        "nothing of what OffsetCommit v1 keeps, and for whom", None, probes.committed("kafka", "zookeeper")),
    "nothing-v0": Statement(
        "nothing of OffsetFetch v0 where no offset is kept", None, probes.nothing_committed("zookeeper")),
    "nothing-v1": Statement(
        "nothing of OffsetFetch v1 where no offset is kept", None, probes.nothing_committed("kafka")),
}
# fmt: on


def run(bench: Bench) -> Measured:
    """Test all statements on brokers of one version after the other."""
    versions = VERSIONS[:1] if bench.short else VERSIONS
    step = bench.counter(len(versions))
    runs: list[dict[str, Any]] = []
    for version in versions:
        step(f"Kafka {version}")
        with ApacheCluster(version, BROKERS, settings=SETTINGS) as cluster:
            brokers = cluster.brokers.values()
            make_topic(brokers, PLACE[0])
            with Client(brokers, patience=PATIENCE) as patient:
                Group(patient, "first").committed([PLACE])  # waits for coordinators
            with Client(brokers, patience=0, timeout=probes.SILENCE) as client:
                client.refresh([PLACE[0]])
                for name, statement in STATEMENTS.items():
                    saw = observed(statement, Peer(client))
                    runs.append({"version": version, "statement": name, "saw": saw})
    return {"how": {"versions": list(versions)}, "runs": runs}


def observed(statement: Statement, peer: Peer) -> list[tuple[int, str]]:
    """Return what a broker did in each version that was tried. Raises OSError for other failures."""
    observations: list[tuple[int, str]] = []
    for version in statement.versions:
        try:
            saw = statement.probe(peer, version)
        except TimeoutError:
            saw = f"no answer for {probes.SILENCE:.0f} s"
        except ConnectionError as problem:
            if not probes.closed(problem):
                raise
            saw = CLOSES
        observations.append((version, saw))
        if saw != CLOSES:
            break
    return observations


def cell(statement: Statement, saw: list[tuple[int, str]]) -> str:
    """Return a cell of the table."""
    version, last = saw[-1]
    if last == CLOSES:
        return CLOSES
    text = AS_SAID if last == statement.right else last
    return f"{text} (v{version})" if version else text


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    versions = measured["how"]["versions"]
    saw = {(item["version"], item["statement"]): item["saw"] for item in measured["runs"]}
    rows, right = [], dict.fromkeys(versions, 0)
    for name, statement in STATEMENTS.items():
        cells = [cell(statement, saw[version, name]) for version in versions]
        rows.append((statement.says, *cells))
        for version, each in zip(versions, cells, strict=True):
            right[version] += each.startswith(AS_SAID)
    stated = sum(item.right is not None for item in STATEMENTS.values())
    text = table(" | ".join(["the guide says", *versions]), rows)
    codes = sorted({int(code) for code in re.findall(r"\bcode (-?\d+)", text)})
    names = {item.code: item.name for item in ERROR_CODES}
    counted = ", ".join(f"{number} on {version}" for version, number in right.items())
    return paragraphs(
        f"{BROKERS} brokers of each version (up to 2.8.0 with ZooKeeper, newer ones without), a topic on "
        "both; each statement is put once, in v0, which is the guide's version. Where a broker closes the "
        "connection at that, it is put in the oldest version that 4.x takes, if that has what is stated: "
        "Produce v3 and Fetch v4, whose batches are of magic 2. Brackets say so.",
        text,
        f"Codes today: {', '.join(f'{each} {names[each]}' for each in codes)}.",
        f"Of the {stated} statements that the guide makes so many are right: {counted}.",
        "Left out is what can only be seen while a broker is killed or stopped: ReplicaNotAvailable (9), "
        "acknowledgements that do not come in time (7), whether replica id -2 gets what not all replicas "
        "have (the project's tests see these on 0.8.2.2), and code 5 behind a leader's end.",
    )


EXPERIMENT: Final = Experiment(QUESTION, VERSIONS, run, write)
