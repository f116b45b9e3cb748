"""What became of a recorded exchange in the replay, and what its two responses differ in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from barnabas.captures.diff.bodies import OF_THE_RUN, Difference, differences
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.unpacked_records import unpacked
from barnabas.peers.replay.identities import Identities, Scope
from barnabas.peers.replay.offsets import Offsets, partitions
from barnabas.peers.replay.plan import Left
from barnabas.peers.replay.routing import topic_of
from barnabas.peers.replay.versions import NAMED, named_topics, pruned
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
"""What another cluster has otherwise, beside what differs in each run: brokers, leaders, replicas, how
far its logs go. And the text of errors, of which the code is compared."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A recorded exchange and what came of it. It was not sent if `left` says why."""

    exchange: Exchange
    left: Left | None = None
    version: int | None = None
    """The version in which it was asked, if it was."""
    response: dict[str, Any] | None = None
    """The live response."""
    differences: tuple[Difference, ...] = ()
    problem: str = ""
    """Why there was no live response although one was due."""

    @property
    def finding(self) -> bool:
        """Whether it is not as it was, or could not be replayed."""
        unexpected = self.left is not None and not self.left.expected
        return unexpected or bool(self.differences) or bool(self.problem)


def expected(
    key: int,
    versions: tuple[int, int],
    recorded: dict[str, Any],
    known: tuple[Identities, Offsets],
    scope: Scope,
) -> dict[str, Any]:
    """What the live response should say, by the recorded one: in its terms. Records are unpacked.

    versions: recorded, live. Raises NotReplayable if the live version's terms can't be told.
    """
    identities, offsets = known
    body: dict[str, Any] = unpacked(recorded)  # a copy
    offsets.translate(key, "response", body)
    if key == FETCH:
        for place, entry in partitions(body, "partition_index"):
            if isinstance(entry["records"], list):
                for record in entry["records"]:
                    record["offset"] = offsets.live(place, record["offset"])
    if versions[0] != versions[1]:
        layout = api(key).response.layout(versions[1])
        body = pruned(named_topics(body, layout, offsets.topics), layout)
    translated: dict[str, Any] = identities.translate(body, scope)
    return translated


def compared(
    key: int,
    versions: tuple[int, int],
    wanted: dict[str, Any],
    live: dict[str, Any],
    ignore: Iterable[str] = OF_THE_CLUSTER,
) -> tuple[Difference, ...]:
    """What a live response differs in from what was expected. versions: recorded, live.

    Fields that one of the versions lacks are not compared. How many records come in one Fetch is a matter
    of timing: as far as both have records of a partition they are compared, and a partition that only
    one has counts if it has an error.
    """
    if wanted == live:
        return ()
    if versions[0] != versions[1]:
        live = pruned(live, api(key).response.layout(versions[0]), keep=NAMED)
    one, other = (to_json(unpacked(redact(key, "response", body))) for body in (wanted, live))
    if key == FETCH:
        _as_far_as_both(one, other)
    if key == JOIN_GROUP:  # told to the group's leader only, which may be another member
        one.pop("members", None)
        other.pop("members", None)
    return tuple(differences(one, other, ignore))


def _as_far_as_both(recorded: dict[str, Any], live: dict[str, Any]) -> None:
    """Leave of a Fetch what can be compared."""
    one, other = (dict(partitions(body, "partition_index")) for body in (recorded, live))
    for place in one.keys() & other.keys():
        _shorten(one[place], other[place])
    for body, theirs in ((recorded, other), (live, one)):
        for topic in body["responses"]:
            topic["partitions"] = [
                entry
                for entry in topic["partitions"]
                if entry["error_code"] or (topic_of(topic), entry["partition_index"]) in theirs
            ]
        body["responses"] = [topic for topic in body["responses"] if topic["partitions"]]


def _shorten(one: dict[str, Any], other: dict[str, Any]) -> None:
    """The records that both have: from the first offset on that both have, as many as the shorter has."""
    lists = [entry["records"] or [] for entry in (one, other)]
    if not all(isinstance(found, list) for found in lists):
        return
    first = max((found[0]["offset"] for found in lists if found), default=0)
    both = [[record for record in found if record["offset"] >= first] for found in lists]
    count = min(map(len, both))
    one["records"], other["records"] = both[0][:count], both[1][:count]
    for entry in (one, other):
        entry["aborted_transactions"] = None
