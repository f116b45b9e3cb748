"""The workload of the Java administrator."""

from __future__ import annotations

from typing import Any

import jpype
from java_producing import CLIENTS, close, properties
from work import GaveUpError, Work

_ADMIN = CLIENTS.admin
_RESOURCE = jpype.JPackage("org.apache.kafka.common").config.ConfigResource
_MILLISECONDS = jpype.java.util.concurrent.TimeUnit.MILLISECONDS


def admin(work: Work) -> int:
    """Make topics, change them, and delete them, each seen before the next step."""
    client = _ADMIN.AdminClient.create(properties(work, client_id="admin"))
    only = jpype.java.util.Collections

    def done(future: Any) -> Any:
        try:
            return future.get(int(work.patience * 1000), _MILLISECONDS)
        except jpype.java.util.concurrent.TimeoutException:
            raise GaveUpError("an administrator's call has not ended") from None

    def known(future: Any) -> Any:
        """The same of a topic of which the broker that is asked may not know yet: None."""
        try:
            return done(future)
        except jpype.java.util.concurrent.ExecutionException as problem:
            if "UnknownTopicOrPartition" in str(problem.getCause()):
                return None
            raise

    def partitions(topic: str) -> int:
        if not done(client.listTopics().names()).contains(topic):
            return 0
        told = client.describeTopics(only.singletonList(topic))
        found = known(told.allTopicNames() if hasattr(told, "allTopicNames") else told.all())
        return len(found.get(topic).partitions()) if found else 0

    try:
        for number in range(work.rounds):
            topic = f"{work.topic}-admin-{number}"
            made = _ADMIN.NewTopic(topic, jpype.JInt(2), jpype.JShort(1))
            done(client.createTopics(only.singletonList(made)).all())
            work.shown(f"{topic} with 2 partitions", lambda topic=topic: partitions(topic) == 2)
            more = only.singletonMap(topic, _ADMIN.NewPartitions.increaseTo(3))
            done(client.createPartitions(more).all())
            work.shown(f"{topic} with 3 partitions", lambda topic=topic: partitions(topic) == 3)
            about = _RESOURCE(_RESOURCE.Type.TOPIC, topic)
            entry = _ADMIN.ConfigEntry("retention.ms", "3600000")
            change = _ADMIN.AlterConfigOp(entry, _ADMIN.AlterConfigOp.OpType.SET)
            changes = only.singletonMap(about, only.singletonList(change))
            done(client.incrementalAlterConfigs(changes).all())

            def kept(about: Any = about) -> bool:
                found = known(client.describeConfigs(only.singletonList(about)).all())
                return found and str(found.get(about).get("retention.ms").value()) == "3600000"

            work.shown(f"retention.ms of {topic}", kept)
            done(client.deleteTopics(only.singletonList(topic)).all())
            work.shown(f"{topic} gone", lambda topic=topic: partitions(topic) == 0)
    finally:
        close(client)
    return 0
