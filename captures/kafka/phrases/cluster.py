"""Describe exchanges about brokers, topics and API versions."""

from __future__ import annotations

from typing import Final

from barnabas.captures.kafka.wording import Body, Names, arrow, joined, listed, topic_name
from barnabas.plural import plural


def metadata(request: Body, response: Body, names: Names) -> str:
    """Describe a Metadata: the requested topics, and how many brokers and topics were returned."""
    requested = ""
    if "topics" in request:
        topics = request["topics"]
        requested = "all topics" if topics is None else "no topics"
        if topics:
            requested = listed((topic_name(topic, names) for topic in topics), "topic", 48)
    returned = ""
    if "brokers" in response:
        brokers, topics = len(response["brokers"]), len(response["topics"])
        returned = f"{plural(brokers, 'broker')}, {plural(topics, 'topic')}"
    return arrow(requested, returned)


_COORDINATED: Final = {0: "group", 1: "transaction", 2: "share group"}


def find_coordinator(request: Body, response: Body, names: Names) -> str:
    """Describe a FindCoordinator: the group or transaction, and the node."""
    key_type = _COORDINATED.get(request.get("key_type", 0), "key") if request else ""
    if "coordinators" in response:
        coordinators = listed(
            (f"{c['key']} → {c['node_id']}" for c in response["coordinators"]), "key"
        )
    else:
        keys = request.get("coordinator_keys")
        key = request.get("key", "") if keys is None else listed(keys, "key")
        coordinators = arrow(key, str(response.get("node_id", "")))
    return joined(key_type, coordinators)


def api_versions(request: Body, response: Body, names: Names) -> str:
    """Describe an ApiVersions: the client's software, and the number of APIs."""
    software = (request.get("client_software_name"), request.get("client_software_version"))
    apis = plural(len(response["api_keys"]), "API") if "api_keys" in response else ""
    return arrow(joined(*(word or "" for word in software)), apis)


def describe_cluster(request: Body, response: Body, names: Names) -> str:
    """Describe a DescribeCluster: the number of nodes, and the controller."""
    if "brokers" not in response:
        return ""
    noun = "controller" if response.get("endpoint_type") == 2 else "broker"
    return f"→ {plural(len(response['brokers']), noun)}, controller {response['controller_id']}"


def create_topics(request: Body, response: Body, names: Names) -> str:
    """Describe a CreateTopics: topics with partitions and replicas."""

    def one(topic: Body) -> str:
        partitions, replicas = topic["num_partitions"], topic["replication_factor"]
        if partitions == -1:
            return str(topic["name"])
        copies = f" x {replicas}" if replicas > 0 else ""
        return f"{topic['name']}({plural(partitions, 'partition')}{copies})"

    return listed(map(one, request.get("topics") or ()), "topic")


def delete_topics(request: Body, response: Body, names: Names) -> str:
    """Describe a DeleteTopics: the topics."""
    by_name = request.get("topic_names")
    if by_name is None:
        by_name = [topic_name(topic, names) for topic in request.get("topics") or ()]
    return listed(by_name, "topic")
