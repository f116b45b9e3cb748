"""The program of `FullClient`'s process: `python -m tests.peers.java.process JAVA CLASSPATH`."""

from __future__ import annotations

import sys
import time
from typing import Any, Final

import jpype

from barnabas.peers.apache.client_admin import await_leaders, create, with_admin
from barnabas.peers.apache.client_process import CALLS, Calls, records_of, serve
from barnabas.peers.apache.client_values import (
    java_list,
    new_consumer,
    new_producer,
    package,
    poll_timeout,
    string,
)


def produce_in_transaction(request: dict[str, Any]) -> dict[str, Any]:
    """Send values to a topic in a transaction, which ends as `outcome` requires."""
    producer = new_producer(request["settings"])
    try:
        producer.initTransactions()
        producer.beginTransaction()
        for future in [producer.send(record) for record in records_of(request)]:
            future.get()
        if request["group"]:
            _commit(producer, request["topic"], request["group"], request["offsets"])
        if request["outcome"] == "commit":
            producer.commitTransaction()
        else:
            producer.abortTransaction()
        return {}
    finally:
        producer.close()


def _commit(producer: Any, topic: str, group: str, offsets: list[tuple[int, int]]) -> None:
    """Add a group's offsets to a transaction; ConsumerGroupMetadata names the group since 2.5 (KIP-447)."""
    consumers = package("consumer")
    positions = jpype.java.util.HashMap()
    for number, offset in offsets:
        partition = jpype.JPackage("org.apache.kafka.common").TopicPartition(topic, number)
        positions.put(partition, consumers.OffsetAndMetadata(offset))
    try:
        metadata = consumers.ConsumerGroupMetadata(group)
    except (AttributeError, TypeError):
        metadata = group
    producer.sendOffsetsToTransaction(positions, metadata)


def consume(request: dict[str, Any]) -> dict[str, Any]:
    """Read a topic as a member of a group, `count` records or for `seconds`."""
    consumer = new_consumer(request["settings"])
    received: list[Any] = []
    try:
        consumer.subscribe(java_list(request["topic"]))
        timeout = poll_timeout(consumer)
        deadline = time.monotonic() + request["seconds"]
        while len(received) < request["count"] and time.monotonic() < deadline:
            for record in consumer.poll(timeout):
                position = (str(record.topic()), int(record.partition()), int(record.offset()))
                received.append((*position, string(record.key()), string(record.value())))
        consumer.commitSync()
        return {"received": received}
    finally:
        consumer.close()


def administer(request: dict[str, Any]) -> dict[str, Any]:
    """Make a call of AdminClient on a topic."""
    return with_admin(
        request, {"create": create, "grow": _grow, "delete": _delete}[request["operation"]]
    )


def _grow(admin: Any, request: dict[str, Any]) -> None:
    """Add partitions, until there are as many as requested (since 1.0, KIP-195)."""
    increase = package("admin").NewPartitions.increaseTo(request["partitions"])
    changes = jpype.java.util.Collections.singletonMap(request["topic"], increase)
    admin.createPartitions(changes).all().get()
    await_leaders(admin, request["topic"], request["partitions"])


def _delete(admin: Any, request: dict[str, Any]) -> None:
    admin.deleteTopics(java_list(request["topic"])).all().get()


FULL: Final[Calls] = {
    **CALLS,
    "produce_in_transaction": produce_in_transaction,
    "consume": consume,
    "administer": administer,
}

if __name__ == "__main__":
    serve(FULL, *sys.argv[1:])
