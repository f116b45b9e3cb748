"""Descriptions of central coordination's messages in log lines."""

from __future__ import annotations

from typing import Final

from barnabas.captures.kafka.wording import Body, Names, arrow, group_name, joined, listed
from barnabas.plural import plural
from barnabas.specs.dialects.dialect import PhraseRow


def cluster_metadata(request: Body, response: Body, names: Names) -> str:
    """Describe a ClusterMetadata: the number of brokers, and the coordinator."""
    if not response:
        return ""
    node = response["coordinator_id"]
    who = "no coordinator" if node < 0 else f"coordinator {node}"
    return f"→ {plural(len(response['brokers_info']), 'broker')}, {who}"


def register_consumer(request: Body, response: Body, names: Names) -> str:
    """Describe a RegisterConsumer: group, topics with their streams, session, auto commit."""
    if not request:
        return ""
    commits = "" if request["auto_commit"] else "without auto commit"
    session = f"session {request['session_timeout_ms']} ms"
    return joined(group_name(request["group_id"]), request["topic_count"], session, commits)


def ping(request: Body, response: Body, names: Names) -> str:
    """Describe a Ping: only its group, which the context knows."""
    return ""


def stop_fetcher(request: Body, response: Body, names: Names) -> str:
    """Describe a StopFetcher: the consumer's positions."""
    return arrow("", _offset_info(response) or ("no offsets" if response else ""))


def start_fetcher(request: Body, response: Body, names: Names) -> str:
    """Describe a StartFetcher: partitions and offsets."""
    return (_offset_info(request) or "nothing") if request else ""


def _offset_info(body: Body) -> str:
    topics: dict[str, list[str]] = {}
    for row in body.get("offset_info") or ():
        offset = "-" if row["offset"] < 0 else row["offset"]
        topics.setdefault(row["topic"], []).append(f"{row['partition']}={offset}")
    return listed((f"{topic}[{','.join(parts)}]" for topic, parts in topics.items()), "topic")


PHRASES: Final[dict[str, PhraseRow]] = {
    "ClusterMetadata": ((), ("coordinator_id", "brokers_info"), cluster_metadata),
    "RegisterConsumer": (
        ("group_id", "topic_count", "auto_commit", "session_timeout_ms"),
        (),
        register_consumer,
    ),
    "Ping": ((), (), ping),
    "StopFetcher": ((), ("offset_info",), stop_fetcher),
    "StartFetcher": (("offset_info",), (), start_fetcher),
}
"""Phrases by API: the needed paths of the request, those of the response, and the function."""
