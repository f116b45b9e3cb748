"""Oracles of other clients: a case must not leave them unanswered or change what they wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from barnabas.fuzz.cases.json_form import recipe_of
from barnabas.fuzz.cases.observation import EARLIER, Observation
from barnabas.fuzz.observations.case_labels import api_of, case_of
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.specs import keys
from barnabas.specs.registry import NAMES

MAY: Final = {
    keys.LEADER_AND_ISR: "tells a broker what it leads",
    keys.STOP_REPLICA: "takes replicas away",
    keys.UPDATE_METADATA: "tells a broker who is there",
    keys.CONTROLLED_SHUTDOWN: "ends a broker's service",
    keys.UNREGISTER_BROKER: "takes a broker out of the cluster",
    keys.BROKER_REGISTRATION: "takes a broker's place",
    keys.BROKER_HEARTBEAT: "fences a broker",
    keys.ALTER_PARTITION: "changes who is in sync",
    keys.DELETE_TOPICS: "deletes what others use",
    keys.DELETE_RECORDS: "deletes what others wrote",
    keys.ALTER_CONFIGS: "changes how topics and brokers work",
    keys.INCREMENTAL_ALTER_CONFIGS: "the same",
    keys.ALTER_PARTITION_REASSIGNMENTS: "moves replicas",
    keys.ALTER_CLIENT_QUOTAS: "slows others down",
    keys.UPDATE_FEATURES: "changes what the cluster may do",
    keys.ELECT_LEADERS: "changes leaders",
    keys.CREATE_ACLS: "shuts others out",
    keys.VOTE: "takes part in elections of controllers",
    keys.BEGIN_QUORUM_EPOCH: "the same",
    keys.END_QUORUM_EPOCH: "the same",
}
"""API key -> what of others it may change, as it is meant to."""

_EXEMPT: Final = frozenset(NAMES[key] for key in MAY)


def hung(observation: Observation) -> Iterator[Verdict]:
    """Report a probe that was not answered."""
    probe = observation.probe
    # a process that ended is reported by `died`
    if probe is None or probe.answered or observation.death is not None:
        return
    yield Verdict("hung", f"a probe was not answered: {probe.problem}", (case_of(observation),))


def damaged(observation: Observation) -> Iterator[Verdict]:
    """Report what a probe found changed for other clients."""
    probe = observation.probe
    if probe is None or not probe.answered or not probe.problem:
        return
    # a crash loses what was not written yet, which `died` reports
    if observation.death is not None or not _EXEMPT.isdisjoint(_suspects(observation)):
        return
    problem = re.sub(r"-?\d+", "#", probe.problem)
    yield Verdict(
        "damaged",
        f"another client: {probe.problem}",
        (api_of(observation), problem),
    )


def _suspects(observation: Observation) -> set[str]:
    """Return the APIs of the case, and of those that share the blame."""
    earlier: list[str] = dict(observation.facts).get(EARLIER, [])  # type: ignore[assignment]
    keys_before = (recipe_of(recipe).seed.key for recipe in earlier)
    return {api_of(observation), *(NAMES.get(key, "") for key in keys_before)}
