"""One phrase for each API that clients use: a few words made of fields of request and response.

Which fields they get stands in `captures.summary`. Any of them may be missing: the version lacks
it, or there is no such body. Nothing that is secret is named.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from captures.wording import (
    WIDTH,
    Body,
    Names,
    arrow,
    joined,
    listed,
    member_name,
    pairs,
    partitions_of,
    plural,
    ranges,
    size,
    topic_name,
)
from specs import records
from specs.declaration import FOREVER, Array, Int16, Int32, Message, NullableBytes, String
from specs.malformed import Malformed

_ASSIGNMENT: Final = Message(
    "version"             / Int16,
    "assigned_partitions" / Array(
        "topic"      / String,
        "partitions" / Array(Int32),
    ),
    "user_data"           / NullableBytes,
).of("ConsumerProtocolAssignment", (0, 3), FOREVER)  # fmt: skip
"""What a SyncGroup response assigns to a consumer (ConsumerProtocolAssignment.json)."""


# records


def _batches(topics: Iterable[Body] | None, inner: str, index: str, names: Names) -> str:
    """Partitions with records, how many (`+`: at least), and their bytes."""
    count = length = 0
    uncounted = False
    with_data: list[Body] = []
    for topic in topics or ():
        filled = [partition for partition in topic[inner] if partition["records"]]
        if filled:
            with_data.append(topic | {inner: [partition[index] for partition in filled]})
        for partition in filled:
            found = records.summary(partition["records"])
            count += found.batches if found.records is None else found.records
            uncounted |= found.records is None
            length += found.size
    if not with_data:
        return ""
    where = partitions_of(with_data, inner, names, ranges)
    return f"{where} {f'{count}+ records' if uncounted else plural(count, 'record')} {size(length)}"


def produce(request: Body, response: Body, names: Names) -> str:
    """Produce: partitions, records, bytes, acks."""
    found = _batches(request.get("topic_data"), "partition_data", "index", names)
    acks = request.get("acks")
    return joined(
        found or ("no records" if request else ""),
        f"txn={request['transactional_id']}" if request.get("transactional_id") else "",
        "" if acks is None else f"acks={'all' if acks == -1 else acks}",
    )


def fetch(request: Body, response: Body, names: Names) -> str:
    """Fetch: what came back; without a response, what was asked."""
    if "responses" in response:
        found = _batches(response["responses"], "partitions", "partition_index", names)
        return found or "empty"
    topics = request.get("topics")
    return partitions_of(
        topics, "partitions", names, lambda found: ranges(p["partition"] for p in found)
    )


# offsets

_TIMES: Final = {-1: "latest", -2: "earliest", -3: "max timestamp", -4: "earliest local"}
_TIMES_LATER: Final = {-5: "latest tiered", -6: "earliest pending upload"}


def _time(ts: int) -> str:
    named = (_TIMES | _TIMES_LATER).get(ts)
    if named or not 0 <= ts < 253_402_300_800_000:
        return named or str(ts)
    return datetime.fromtimestamp(ts / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def list_offsets(request: Body, response: Body, names: Names) -> str:
    """ListOffsets: offsets by partition, and of which time."""
    asked = [p for topic in request.get("topics") or () for p in topic["partitions"]]
    times = sorted({_time(partition["timestamp"]) for partition in asked})
    if "topics" in response:

        def offset(partition: Body) -> Any:
            old = partition.get("old_style_offsets")
            return partition.get("offset") if old is None else ",".join(map(str, old[:3]))

        where = partitions_of(
            response["topics"],
            "partitions",
            names,
            lambda found: pairs((p["partition_index"], offset(p)) for p in found),
        )
    else:
        where = partitions_of(
            request.get("topics"),
            "partitions",
            names,
            lambda found: ranges(p["partition_index"] for p in found),
        )
    return joined(
        where, times[0] if len(times) == 1 else plural(len(times), "time") if times else ""
    )


def _committed(topics: list[Body] | None, names: Names) -> str:
    return partitions_of(
        topics,
        "partitions",
        names,
        lambda found: pairs(
            (p["partition_index"], "-" if p["committed_offset"] == -1 else p["committed_offset"])
            for p in found
        ),
    )


def offset_commit(request: Body, response: Body, names: Names) -> str:
    """OffsetCommit, TxnOffsetCommit: group, offsets by partition."""
    return joined(
        request.get("transactional_id", ""),
        request.get("group_id", ""),
        _committed(request.get("topics"), names),
    )


def offset_fetch(request: Body, response: Body, names: Names) -> str:
    """OffsetFetch: group, offsets by partition, `-` where none is stored."""
    answered = "topics" in response or "groups" in response
    body = response if answered else request
    groups = body.get("groups")
    if groups is None:
        groups = [{"group_id": request.get("group_id", ""), "topics": body.get("topics")}]
    return listed((_positions(group, answered, names) for group in groups), "group", WIDTH - 16)


def _positions(group: Body, answered: bool, names: Names) -> str:
    topics = group["topics"]
    if topics is None:
        where = "all topics" if group["group_id"] else ""
    elif answered:
        where = _committed(topics, names) or "nothing committed"
    else:
        where = partitions_of(topics, "partition_indexes", names, ranges)
    return joined(group["group_id"], where)


# the cluster


def metadata(request: Body, response: Body, names: Names) -> str:
    """Metadata: the topics asked for, how much came back."""
    asked = ""
    if "topics" in request:
        topics = request["topics"]
        asked = "all topics" if topics is None else "no topics"
        if topics:
            asked = listed((topic_name(topic, names) for topic in topics), "topic", 48)
    found = ""
    if "brokers" in response:
        brokers, topics = len(response["brokers"]), len(response["topics"])
        found = f"{plural(brokers, 'broker')}, {plural(topics, 'topic')}"
    return arrow(asked, found)


_COORDINATED: Final = {0: "group", 1: "transaction", 2: "share group"}


def find_coordinator(request: Body, response: Body, names: Names) -> str:
    """FindCoordinator: whose, and the node."""
    kind = _COORDINATED.get(request.get("key_type", 0), "key") if request else ""
    if "coordinators" in response:
        found = listed((f"{c['key']} → {c['node_id']}" for c in response["coordinators"]), "key")
    else:
        asked = request.get("coordinator_keys")
        key = request.get("key", "") if asked is None else listed(asked, "key")
        found = arrow(key, str(response.get("node_id", "")))
    return joined(kind, found)


def api_versions(request: Body, response: Body, names: Names) -> str:
    """ApiVersions: the client's software, the number of APIs."""
    software = (request.get("client_software_name"), request.get("client_software_version"))
    found = plural(len(response["api_keys"]), "API") if "api_keys" in response else ""
    return arrow(joined(*(word or "" for word in software)), found)


def describe_cluster(request: Body, response: Body, names: Names) -> str:
    """DescribeCluster: how many nodes, and the controller."""
    if "brokers" not in response:
        return ""
    what = "controller" if response.get("endpoint_type") == 2 else "broker"
    return f"→ {plural(len(response['brokers']), what)}, controller {response['controller_id']}"


def create_topics(request: Body, response: Body, names: Names) -> str:
    """CreateTopics: topics with partitions and replicas."""

    def one(topic: Body) -> str:
        partitions, replicas = topic["num_partitions"], topic["replication_factor"]
        if partitions == -1:
            return str(topic["name"])
        copies = f" x {replicas}" if replicas > 0 else ""
        return f"{topic['name']}({plural(partitions, 'partition')}{copies})"

    return listed(map(one, request.get("topics") or ()), "topic")


def delete_topics(request: Body, response: Body, names: Names) -> str:
    """DeleteTopics: the topics."""
    by_name = request.get("topic_names")
    if by_name is None:
        by_name = [topic_name(topic, names) for topic in request.get("topics") or ()]
    return listed(by_name, "topic")


# groups


def join_group(request: Body, response: Body, names: Names) -> str:
    """JoinGroup: group, member, generation, protocol, who leads."""
    member = response.get("member_id") or request.get("member_id")
    words = [request.get("group_id", ""), member_name(member) if request or response else ""]
    if response.get("generation_id", -1) >= 0:
        words.append(f"generation {response['generation_id']}")
        words.append(response.get("protocol_name") or "")
        if response["leader"] == response["member_id"]:
            words.append(f"leader of {plural(len(response['members']), 'member')}")
        else:
            words.append("follower")
    else:
        words.append(listed((p["name"] for p in request.get("protocols") or ()), "protocol", 24))
    return joined(*words)


def generation(request: Body, response: Body, names: Names) -> str:
    """Heartbeat: group, generation, member."""
    if not request:
        return ""
    generation = f"generation {request['generation_id']}"
    return joined(request["group_id"], generation, member_name(request["member_id"]))


def sync_group(request: Body, response: Body, names: Names) -> str:
    """SyncGroup: group, generation, member, what it is assigned."""
    assigned = ""
    if response.get("assignment"):
        assigned = _assignment(response["assignment"], names)
    leads = len(request.get("assignments") or ())
    who = generation(request, response, names)
    return arrow(joined(who, f"leads {leads}" if leads else ""), assigned)


def _assignment(data: bytes, names: Names) -> str:
    """Partitions, if these bytes are a consumer's; other kinds of groups have other layouts."""
    try:
        version = int.from_bytes(data[:2])
        body, odd = _ASSIGNMENT.codec(min(version, 3)).inspect(data)
    except Malformed:
        return size(len(data))
    if odd:
        return size(len(data))
    return partitions_of(body["assigned_partitions"], "partitions", names, ranges) or "nothing"


def leave_group(request: Body, response: Body, names: Names) -> str:
    """LeaveGroup: group and members."""
    members = request.get("members")
    if members is None:
        members = [request] if request else []
    named = (m.get("group_instance_id") or member_name(m["member_id"]) for m in members)
    return joined(request.get("group_id", ""), listed(named, "member"))


def describe_groups(request: Body, response: Body, names: Names) -> str:
    """DescribeGroups: groups and their states."""
    if "groups" in response:
        told = (f"{g['group_id']} ({g['group_state'] or '?'})" for g in response["groups"])
        return listed(told, "group")
    return listed(request.get("groups") or (), "group")


def list_groups(request: Body, response: Body, names: Names) -> str:
    """ListGroups: how many."""
    return f"→ {plural(len(response['groups']), 'group')}" if "groups" in response else ""


def group_heartbeat(request: Body, response: Body, names: Names) -> str:
    """ConsumerGroupHeartbeat, ShareGroupHeartbeat: group, epoch, member, new assignment."""
    epoch = response.get("member_epoch", request.get("member_epoch", ""))
    member = response.get("member_id") or request.get("member_id")
    who = joined(request.get("group_id", ""), f"epoch {epoch}", member_name(member))
    assigned = response.get("assignment")
    if not assigned:
        return who
    where = partitions_of(assigned["topic_partitions"], "partitions", names, ranges)
    return arrow(who, where or "nothing")


# transactions and SASL


def init_producer_id(request: Body, response: Body, names: Names) -> str:
    """InitProducerId: transactional id, producer id and epoch."""
    found = ""
    if response.get("producer_id", -1) >= 0:
        found = f"producer {response['producer_id']} epoch {response['producer_epoch']}"
    return arrow(request.get("transactional_id") or "", found)


def add_partitions_to_txn(request: Body, response: Body, names: Names) -> str:
    """AddPartitionsToTxn: transactions and their partitions."""

    def one(transaction: Body) -> str:
        where = partitions_of(transaction["topics"], "partitions", names, ranges)
        return joined(transaction["transactional_id"], where)

    transactions = request.get("transactions")
    if transactions is None:
        before = "v3_and_below_"
        transactions = [
            {name: request[before + name] for name in ("transactional_id", "topics")}
        ] if request else []  # fmt: skip
    return listed(map(one, transactions), "transaction", WIDTH - 16)


def add_offsets_to_txn(request: Body, response: Body, names: Names) -> str:
    """AddOffsetsToTxn: transaction and group."""
    return joined(request.get("transactional_id", ""), request.get("group_id", ""))


def end_txn(request: Body, response: Body, names: Names) -> str:
    """EndTxn: transaction, and how it ends."""
    if not request:
        return ""
    return joined(request["transactional_id"], "commit" if request["committed"] else "abort")


def sasl_handshake(request: Body, response: Body, names: Names) -> str:
    """SaslHandshake: the mechanism; if it is refused, those on offer."""
    offered = response.get("mechanisms") if response.get("error_code") else None
    return arrow(request.get("mechanism", ""), listed(offered or (), "mechanism"))


def sasl_authenticate(request: Body, response: Body, names: Names) -> str:
    """SaslAuthenticate: sizes only."""
    sent, came = (body.get("auth_bytes") for body in (request, response))
    return arrow(
        "" if sent is None else plural(len(sent), "byte"),
        "" if came is None else plural(len(came), "byte"),
    )
