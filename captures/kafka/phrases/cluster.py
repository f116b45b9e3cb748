"""Brokers, topics, versions."""

from __future__ import annotations

from typing import Final

from barnabas.captures.kafka.wording import Body, Names, arrow, joined, listed, topic_name
from barnabas.plural import plural


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
