"""What runs in a Java client's process: `python -m barnabas.peers.apache.client_process JAVA CLASSPATH`.

Reads a JSON object a line and answers each with one that has its number (see barnabas.peers.apache.client);
bytes are strings of the characters 0 to 255. Java's own output goes to stderr. The names are those
of the package org.apache.kafka.clients.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

import jpype

from barnabas.peers.apache.client_admin import administer
from barnabas.peers.apache.client_decoding import decode, decodes
from barnabas.peers.apache.client_values import (
    array,
    java_list,
    new_consumer,
    new_producer,
    package,
    poll_timeout,
    string,
)
from barnabas.peers.apache.java import library
from barnabas.peers.apache.jvm import QUICK

_FLAGS: Final = ("-Xmx128m", *QUICK)


def produce(request: dict[str, Any]) -> dict[str, Any]:
    """Send values to a topic, in a transaction if `outcome` says how that ends."""
    record = package("producer").ProducerRecord
    topic, values = request["topic"], [array(value) for value in request["values"]]
    producer = new_producer(request["settings"])
    try:
        if request["outcome"]:
            producer.initTransactions()
            producer.beginTransaction()
        if request["partitions"] is None:
            records = [record(topic, value) for value in values]
        else:
            pairs = zip(request["partitions"], values, strict=True)
            records = [record(topic, jpype.JInt(number), None, value) for number, value in pairs]
        waiting = [producer.send(one) for one in records]
        sent = [one.get() for one in waiting]
        if request["group"]:
            _commit(producer, topic, request["group"], request["offsets"])
        if request["outcome"] == "commit":
            producer.commitTransaction()
        elif request["outcome"] == "abort":
            producer.abortTransaction()
        return {"sent": [(int(one.partition()), int(one.offset())) for one in sent]}
    finally:
        producer.close()


def pace(request: dict[str, Any]) -> dict[str, Any]:
    """Send records at a fixed rate, whatever becomes of them; microseconds that each one took.

    One that could not be sent when it was due counts from then.
    """
    producer = new_producer(request["settings"])
    record = package("producer").ProducerRecord(request["topic"], array("x" * request["size"]))
    under_way: SimpleQueue[tuple[int, Any] | None] = SimpleQueue()
    try:
        producer.send(record).get()  # connections and metadata are not measured
        with ThreadPoolExecutor(1) as waiting:
            took = waiting.submit(_wait_for_all, under_way)
            try:
                begun = time.perf_counter_ns()
                for number in range(request["count"]):
                    due = begun + number * 1_000_000_000 // request["rate"]
                    early = due - time.perf_counter_ns()
                    if early > 0:
                        time.sleep(early / 1e9)
                        due = time.perf_counter_ns()
                    under_way.put((due, producer.send(record)))
            finally:
                under_way.put(None)
            return {"took": took.result()}
    finally:
        producer.close()


def _wait_for_all(under_way: SimpleQueue[tuple[int, Any] | None]) -> list[int]:
    """The times of records under way, which are acknowledged in their order."""
    took = []
    while (one := under_way.get()) is not None:
        due, sent = one
        sent.get()
        took.append((time.perf_counter_ns() - due) // 1000)
    return took


def _commit(producer: Any, topic: str, group: str, offsets: list[tuple[int, int]]) -> None:
    """Offsets of a group, in a transaction; it is named by ConsumerGroupMetadata since 2.5 (KIP-447)."""
    consumers = package("consumer")
    positions = jpype.java.util.HashMap()
    for partition, offset in offsets:
        where = jpype.JPackage("org.apache.kafka.common").TopicPartition(topic, partition)
        positions.put(where, consumers.OffsetAndMetadata(offset))
    try:
        named = consumers.ConsumerGroupMetadata(group)
    except (AttributeError, TypeError):
        named = group
    producer.sendOffsetsToTransaction(positions, named)


def consume(request: dict[str, Any]) -> dict[str, Any]:
    """Read a topic as a member of a group, until there are `count` records or time is up."""
    consumer = new_consumer(request["settings"])
    received: list[Any] = []
    try:
        consumer.subscribe(java_list(request["topic"]))
        timeout = poll_timeout(consumer)
        until = time.monotonic() + request["seconds"]
        while len(received) < request["count"] and time.monotonic() < until:
            for one in consumer.poll(timeout):
                where = (str(one.topic()), int(one.partition()), int(one.offset()))
                received.append((*where, string(one.key()), string(one.value())))
        consumer.commitSync()
        return {"received": received}
    finally:
        consumer.close()


def setting_names(request: dict[str, Any]) -> dict[str, Any]:
    """The names of all settings that brokers know, which are in the jars of brokers only."""
    names = jpype.JClass("kafka.server.KafkaConfig").configNames()
    return {"names": str(names.mkString("\n")).split()}


Calls = dict[str, Callable[[dict[str, Any]], dict[str, Any]]]

DO: Final[Calls] = {
    "produce": produce,
    "pace": pace,
    "consume": consume,
    "administer": administer,
    "decode": decode,
    "decodes": decodes,
    "setting_names": setting_names,
}
"""What can be asked for; other programs serve more."""


def serve(calls: Calls, program: str, classes: str) -> None:
    """Answer requests for these calls until there are no more."""
    # whatever Java prints must not stand between the answers
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    jpype.startJVM(library(Path(program)), *_FLAGS, classpath=classes.split(os.pathsep))
    for request in _requests():
        try:
            answer = calls[request["do"]](request)
        except (jpype.JException, AttributeError, TypeError, TimeoutError) as problem:
            # attributes, types: a class or method that this version does not have, or has otherwise
            answer = {"error": str(problem)}
        answers.write(json.dumps({"number": request["number"], **answer}) + "\n")
        answers.flush()


def _requests() -> Iterator[dict[str, Any]]:
    """What comes in. At its end the process ends, whatever it does: calls into Java may hang."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield json.loads(lines.get())


if __name__ == "__main__":
    serve(DO, *sys.argv[1:])
