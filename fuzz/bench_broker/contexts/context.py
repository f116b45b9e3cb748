"""The interface of contexts: a state of the cluster, and changes of a session's responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from barnabas.fuzz.bench_broker.cluster import Cluster

Values = Mapping[str, Any]
Respond = Callable[[Cluster, Values], dict[str, Any]]
"""Returns other values of a valid response; may change the cluster."""


def unchanged(cluster: Cluster) -> None:
    """Leave the cluster as it is."""


class Turn(NamedTuple):
    """A change of the response to one request of an API.

    Attributes:
        key: The API key.
        respond: Returns the response instead of the valid one.
        ordinal: The request, from 0; None for each of them.
        until_case: It ends with the case: a client without what it needs goes on to request the case's API.
    """

    key: int
    respond: Respond
    ordinal: int | None = 0
    until_case: bool = False


class Context(NamedTuple):
    """A context of sessions. The response of its case comes after all turns with an ordinal.

    Attributes:
        name: The shape in the origin of the seeds (fuzz.cases.case.shape_of).
        keys: API key -> the first version, for the responses that are seeds.
        workload: The workload of the client; "" for the usual one of the API.
        arrange: Changes the state of the cluster before the session.
        turns: Changes of responses.
        single: The seed has at most one element in each array: some clients accept no more.
        repeats: Each further request of the case's API and version gets the case's response, too.
        distorted: The most responses after the case that have a wrong value in one field.
        visible: The offsets of each partition that a read_committed consumer delivers; None if the log is
            not as a broker could have it.
    """

    name: str
    keys: Mapping[int, int]
    workload: str = ""
    arrange: Callable[[Cluster], None] = unchanged
    turns: tuple[Turn, ...] = ()
    single: bool = False
    repeats: bool = False
    distorted: int = 0
    visible: tuple[int, ...] | None = None


NO_CONTEXT = Context("", {})
"""The context of a plain session."""


def top_error(code: int) -> Respond:
    """Return a function that refuses a whole request."""
    return lambda _, values: {**values, "error_code": code}


def partition_errors(cluster: Cluster, values: Values, code: int, **named: Any) -> dict[str, Any]:
    """Return a response that refuses each partition. named: further fields of partitions."""

    def refused(partition: Values) -> dict[str, Any]:
        no_records = {"records": b""} if "records" in partition else {}
        return {**partition, **no_records, "error_code": code, **named}

    topics = [
        {
            **topic,
            **{
                name: [refused(partition) for partition in value]
                for name, value in topic.items()
                if name in ("partitions", "partition_responses")
            },
        }
        for topic in values["responses"]
    ]
    return {**values, "responses": topics}
