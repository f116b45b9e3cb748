"""DescribeQuorum (KIP-595): as any API, but listeners have names that Kafka takes for one."""

from __future__ import annotations

from typing import Any, Final

from barnabas.fuzz.answering.answers.ask import Ask
from barnabas.fuzz.answering.answers.otherwise import otherwise
from barnabas.fuzz.answering.cluster import Cluster
from barnabas.specs.keys import DESCRIBE_QUORUM

_LISTENER: Final = "CONTROLLER"


def describe_quorum(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """One of each thing."""
    found = otherwise(cluster, DESCRIBE_QUORUM, ask)
    for node in found.get("nodes", ()):
        for listener in node["listeners"]:
            listener["name"] = _LISTENER
    return found
