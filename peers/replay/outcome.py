"""The result of a replayed exchange, and the differences between its two responses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from barnabas.captures.diff.bodies import OF_THE_RUN, Difference, differences
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.unpacked_records import unpacked
from barnabas.peers.replay.identities import Identities, Scope
from barnabas.peers.replay.offsets import Offsets, partitions
from barnabas.peers.replay.plan import Omission
from barnabas.peers.replay.routing import topic_of
from barnabas.peers.replay.versions import NAMED, named_topics, prune
from barnabas.specs.jsonform import to_json
from barnabas.specs.keys import FETCH, JOIN_GROUP
from barnabas.specs.registry import api
from barnabas.specs.secrets import redact

OF_THE_CLUSTER: Final = (
    *OF_THE_RUN,
    "brokers",
    "coordinators.node_id",
    "node_id",
    "node_endpoints",
    "leader_id",
    "current_leader",
    "committed_leader_epoch",
    "replica_nodes",
    "isr_nodes",
    "offline_replicas",
    "eligible_leader_replicas",
    "last_known_elr",
    "error_message",
    "high_watermark",
    "last_stable_offset",
    "log_start_offset",
    "preferred_read_replica",
    "is_internal",
    "*_authorized_operations",
)
"""Fields that differ between clusters, in addition to those that differ in each run: brokers, leaders,
replicas, ends of logs. Error messages are among them, since error codes are compared."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A recorded exchange and the result of its replay. `omission` is the reason if it was not sent."""

    exchange: Exchange
    omission: Omission | None = None
    version: int | None = None
    """The version of the live request; None: not sent."""
    response: dict[str, Any] | None = None
    """The live response."""
    differences: tuple[Difference, ...] = ()
    problem: str = ""
    """The reason for a missing live response."""

    @property
    def finding(self) -> bool:
        """Return whether the response differs, is missing, or the request could not be replayed."""
        unexpected = self.omission is not None and not self.omission.expected
        return unexpected or bool(self.differences) or bool(self.problem)


def expected_response(
    key: int,
    versions: tuple[int, int],
    recorded: dict[str, Any],
    known: tuple[Identities, Offsets],
    scope: Scope,
) -> dict[str, Any]:
    """Return the live response that the recorded one leads to expect, with unpacked records.

    Args:
        key: of the API.
        versions: recorded and live.
        recorded: the recorded response.
        known: live identities and offsets.
        scope: the group of the exchange.

    Raises:
        NotReplayable: The live version can't express it.
    """
    identities, offsets = known
    body: dict[str, Any] = unpacked(recorded)  # a copy
    offsets.translate(key, "response", body)
    if key == FETCH:
        for partition, entry in partitions(body, "partition_index"):
            if isinstance(entry["records"], list):
                for record in entry["records"]:
                    record["offset"] = offsets.live(partition, record["offset"])
    if versions[0] != versions[1]:
        layout = api(key).response.layout(versions[1])
        body = prune(named_topics(body, layout, offsets.topics), layout)
    translated: dict[str, Any] = identities.translate(body, scope)
    return translated


def compare(
    key: int,
    versions: tuple[int, int],
    expectation: dict[str, Any],
    live: dict[str, Any],
    ignore: Iterable[str] = OF_THE_CLUSTER,
) -> tuple[Difference, ...]:
    """Return the differences between an expected and a live response.

    Fields that one of the versions lacks are not compared. The number of records in one Fetch is a matter of
    timing: only records that both responses have are compared, and a partition that only one response has
    counts if it has an error.

    Args:
        key: of the API.
        versions: recorded and live.
        expectation: the expected response.
        live: the live response.
        ignore: fields that are not compared.
    """
    if expectation == live:
        return ()
    if versions[0] != versions[1]:
        live = prune(live, api(key).response.layout(versions[0]), keep=NAMED)
    expected_json, live_json = (
        to_json(unpacked(redact(key, "response", body))) for body in (expectation, live)
    )
    if key == FETCH:
        _reduce_to_comparable(expected_json, live_json)
    if key == JOIN_GROUP:  # only the group's leader gets members, which may be another member now
        expected_json.pop("members", None)
        live_json.pop("members", None)
    return tuple(differences(expected_json, live_json, ignore))


def _reduce_to_comparable(recorded: dict[str, Any], live: dict[str, Any]) -> None:
    """Remove from two Fetch responses, in place, everything that can't be compared."""
    recorded_entries, live_entries = (
        dict(partitions(body, "partition_index")) for body in (recorded, live)
    )
    for partition in recorded_entries.keys() & live_entries.keys():
        _reduce_to_shared(recorded_entries[partition], live_entries[partition])
    for body, counterpart in ((recorded, live_entries), (live, recorded_entries)):
        for topic in body["responses"]:
            topic["partitions"] = [
                entry
                for entry in topic["partitions"]
                if entry["error_code"] or (topic_of(topic), entry["partition_index"]) in counterpart
            ]
        body["responses"] = [topic for topic in body["responses"] if topic["partitions"]]


def _reduce_to_shared(recorded: dict[str, Any], live: dict[str, Any]) -> None:
    """Reduce two partitions' records, in place, to the offsets that both have."""
    lists = [entry["records"] or [] for entry in (recorded, live)]
    if not all(isinstance(entry_records, list) for entry_records in lists):
        return
    first = max((entry_records[0]["offset"] for entry_records in lists if entry_records), default=0)
    both = [
        [record for record in entry_records if record["offset"] >= first] for entry_records in lists
    ]
    count = min(map(len, both))
    recorded["records"], live["records"] = both[0][:count], both[1][:count]
    for entry in (recorded, live):
        entry["aborted_transactions"] = None
