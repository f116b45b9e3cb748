"""The APIs of the designs that never shipped and have a dialect: central coordination and the rewrite."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from barnabas.captures.kafka.wording import (
    Body,
    Names,
    arrow,
    group_name,
    joined,
    listed,
    member_name,
    pairs,
    partitions_of,
    ranges,
)
from barnabas.plural import plural
from barnabas.specs.drafts import Draft, draft
from barnabas.specs.drafts.keys import own_key

Phrase = Callable[[Body, Body, Names], str]
"""(fields of the request, fields of the response, names of topics) -> words."""

_CENTRAL: Final = draft("central-coordination")
_REWRITE: Final = draft("rewrite-0.8.2")


def cluster_metadata(request: Body, response: Body, names: Names) -> str:
    """ClusterMetadata: how many brokers, and who coordinates."""
    if not response:
        return ""
    node = response["coordinator_id"]
    who = "no coordinator" if node < 0 else f"coordinator {node}"
    return f"→ {plural(len(response['brokers_info']), 'broker')}, {who}"


def register_consumer(request: Body, response: Body, names: Names) -> str:
    """RegisterConsumer: group, topics with their streams, session, whether it tells offsets."""
    if not request:
        return ""
    commits = "" if request["auto_commit"] else "without auto commit"
    session = f"session {request['session_timeout_ms']} ms"
    return joined(group_name(request["group_id"]), request["topic_count"], session, commits)


def ping(request: Body, response: Body, names: Names) -> str:
    """Ping: the group, which the context knows, is all."""
    return ""


def stop_fetcher(request: Body, response: Body, names: Names) -> str:
    """StopFetcher: where the consumer stopped."""
    return arrow("", _offset_info(response) or ("no offsets" if response else ""))


def start_fetcher(request: Body, response: Body, names: Names) -> str:
    """StartFetcher: partitions, and from where."""
    return (_offset_info(request) or "nothing") if request else ""


def _offset_info(body: Body) -> str:
    topics: dict[str, list[tuple[str, Any]]] = {}
    for row in body.get("offset_info") or ():
        at = row["partition"], "-" if row["offset"] < 0 else row["offset"]
        topics.setdefault(row["topic"], []).append(at)
    return listed((f"{topic}[{_pairs(found)}]" for topic, found in topics.items()), "topic")


def _pairs(found: Iterable[tuple[str, Any]]) -> str:
    return ",".join(f"{partition}={offset}" for partition, offset in found)


def consumer_metadata(request: Body, response: Body, names: Names) -> str:
    """ConsumerMetadata: group, who coordinates it."""
    node = response.get("node_id", -1)
    asked = group_name(request["group_id"]) if request else ""
    return arrow(asked, f"coordinator {node}" if node >= 0 else "")


def join_group(request: Body, response: Body, names: Names) -> str:
    """JoinGroup: group, consumer, topics and strategy; generation and what it is assigned."""
    consumer = response.get("consumer_id") or request.get("consumer_id")
    asked = joined(
        group_name(request["group_id"]) if request else "",
        _consumer(consumer) if request else "",
        listed(request.get("topics") or (), "topic", 24),
        request.get("partition_assignment_strategy", ""),
    )
    if response.get("group_generation_id", -1) < 0:
        return asked
    assigned = partitions_of(response["assigned_partitions"], "partitions", names, ranges)
    return arrow(asked, f"generation {response['group_generation_id']} {assigned or 'nothing'}")


def member(request: Body, response: Body, names: Names) -> str:
    """Heartbeat, LeaveGroup: group, generation, consumer."""
    if not request:
        return ""
    generation = request.get("group_generation_id")
    said = "" if generation is None else f"generation {generation}"
    return joined(group_name(request["group_id"]), said, _consumer(request["consumer_id"]))


def offset_commit(request: Body, response: Body, names: Names) -> str:
    """OffsetCommit: the same, and offsets by partition."""
    where = partitions_of(
        request.get("topics"),
        "partitions",
        names,
        lambda found: pairs((one["partition"], one["offset"]) for one in found),
    )
    return joined(member(request, response, names), where)


def _consumer(consumer_id: str | None) -> str:
    return member_name(consumer_id).replace("member", "consumer", 1)


_MEMBER: Final = ("group_id", "group_generation_id", "consumer_id")
_REGISTERED: Final = ("group_id", "topic_count", "auto_commit", "session_timeout_ms")

_PHRASES: Final[tuple[tuple[Draft, str, tuple[str, ...], tuple[str, ...], Phrase], ...]] = (
    (_CENTRAL, "ClusterMetadata", (), ("coordinator_id", "brokers_info"), cluster_metadata),
    (_CENTRAL, "RegisterConsumer", _REGISTERED, (), register_consumer),
    (_CENTRAL, "Ping", (), (), ping),
    (_CENTRAL, "StopFetcher", (), ("offset_info",), stop_fetcher),
    (_CENTRAL, "StartFetcher", ("offset_info",), (), start_fetcher),
    (_REWRITE, "ConsumerMetadata", ("group_id",), ("node_id",), consumer_metadata),
    (
        *(_REWRITE, "JoinGroup"),
        ("group_id", "topics", "consumer_id", "partition_assignment_strategy"),
        ("group_generation_id", "consumer_id", "assigned_partitions"),
        join_group,
    ),
    (_REWRITE, "Heartbeat", _MEMBER, (), member),
    (_REWRITE, "LeaveGroup", ("group_id", "consumer_id"), (), member),
    (_REWRITE, "OffsetCommit", (*_MEMBER, "topics"), (), offset_commit),
)
"""Of a draft's API: the paths needed of the request, of the response, and what is said of them."""

DRAFT_DETAILS: Final = {
    own_key(of, of.api(name)): (wanted, answered, phrase)
    for of, name, wanted, answered, phrase in _PHRASES
}
"""The same by the key that such an API has here."""
