"""The workload of kafka-python's administrator. What it answers are responses before 3.0, and dicts since."""

from __future__ import annotations

from typing import Any

from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions, NewTopic
from kafka.errors import KafkaError
from kafka_python_producing import settings
from work import Work


def admin(work: Work) -> int:
    """Make topics, change them, and delete them, each seen before the next step."""
    client = KafkaAdminClient(**settings(work, "admin"))

    def partitions(topic: str) -> int:
        found = {one.get("name", one.get("topic")): one for one in client.describe_topics()}
        return len(found[topic]["partitions"]) if topic in found else 0

    def changed(topic: str) -> bool:
        about = ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": "3600000"})
        try:
            _check(client.alter_configs([about]), topic)
        except ValueError:  # since 3.0 it asks a broker first, which may not know the topic yet
            return False
        return True

    def kept(topic: str) -> bool:
        about = ConfigResource(ConfigResourceType.TOPIC, topic)
        return _configs(client.describe_configs([about]), topic).get("retention.ms") == "3600000"

    try:
        for number in range(work.rounds):
            topic = f"{work.topic}-admin-{number}"
            client.create_topics([NewTopic(topic, 2, 1)])
            work.shown(f"{topic} with 2 partitions", lambda topic=topic: partitions(topic) == 2)
            client.create_partitions({topic: NewPartitions(3)})
            work.shown(f"{topic} with 3 partitions", lambda topic=topic: partitions(topic) == 3)
            work.shown(f"a change of {topic}", lambda topic=topic: changed(topic))
            work.shown(f"retention.ms of {topic}", lambda topic=topic: kept(topic))
            client.delete_topics([topic])
            work.shown(f"{topic} gone", lambda topic=topic: partitions(topic) == 0)
    finally:
        client.close()
    return 0


def _configs(told: Any, topic: str) -> dict[str, Any]:
    if isinstance(told, dict):
        found: dict[str, Any] = told.get("topic", {}).get(topic, {})
        return {name: entry["value"] for name, entry in found.items()}
    return {entry[0]: entry[1] for entry in told[0].resources[0][4]}


def _check(told: Any, topic: str) -> None:
    """Raise the error of a change, which it does not raise itself."""
    why = told["topic"][topic] if isinstance(told, dict) else told.resources[0][1]
    if why not in ("OK", None, ""):
        raise KafkaError(why)
