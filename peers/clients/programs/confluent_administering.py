"""The workload of confluent-kafka's administrator."""

from __future__ import annotations

from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewPartitions, NewTopic
from confluent_producing import settings
from work import Work


def admin(work: Work) -> int:
    """Make topics, change them, and delete them, each seen before the next step."""
    client = AdminClient(settings(work, "admin"))

    def done(answers: Any) -> None:
        for answer in answers.values():
            answer.result(work.patience)

    def partitions(topic: str) -> int:
        found = client.list_topics(timeout=work.patience).topics.get(topic)
        return 0 if found is None or found.error else len(found.partitions)

    for number in range(work.rounds):
        topic = f"{work.topic}-admin-{number}"
        done(client.create_topics([NewTopic(topic, 2, 1)]))
        work.shown(f"{topic} with 2 partitions", lambda topic=topic: partitions(topic) == 2)
        done(client.create_partitions([NewPartitions(topic, 3)]))
        work.shown(f"{topic} with 3 partitions", lambda topic=topic: partitions(topic) == 3)
        about = ConfigResource(ConfigResource.Type.TOPIC, topic, {"retention.ms": "3600000"})
        done(client.alter_configs([about]))

        def kept(topic: str = topic) -> bool:
            about = ConfigResource(ConfigResource.Type.TOPIC, topic)
            try:
                found = client.describe_configs([about])[about].result(work.patience)
            except KafkaException as problem:  # this broker does not know of it yet
                if problem.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                    return False
                raise
            return bool(found["retention.ms"].value == "3600000")

        work.shown(f"retention.ms of {topic}", kept)
        done(client.delete_topics([topic]))
        work.shown(f"{topic} gone", lambda topic=topic: partitions(topic) == 0)
    return 0
