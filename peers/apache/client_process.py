"""What runs in a Java client's process: `python -m peers.apache.client_process JAVA CLASSPATH`.

Reads a JSON object a line and answers each with one (see peers.apache.client); bytes are strings
of the characters 0 to 255. Java's own output goes to stderr. The names are those of the package
org.apache.kafka.clients.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

import jpype

_FLAGS: Final = (
    "-Xmx128m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Djava.net.preferIPv4Stack=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
)
_SERIALIZATION: Final = "org.apache.kafka.common.serialization.ByteArray"
_POLL_MS: Final = 200


def produce(request: dict[str, Any]) -> dict[str, Any]:
    """Send values to a topic, in a transaction if `outcome` says how that ends."""
    settings = dict.fromkeys(("key.serializer", "value.serializer"), f"{_SERIALIZATION}Serializer")
    clients = jpype.JPackage("org.apache.kafka.clients.producer")
    producer = clients.KafkaProducer(_properties(settings | request["settings"]))
    try:
        if request["outcome"]:
            producer.initTransactions()
            producer.beginTransaction()
        waiting = [
            producer.send(clients.ProducerRecord(request["topic"], _array(value)))
            for value in request["values"]
        ]
        sent = [one.get() for one in waiting]
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
    settings = dict.fromkeys(("key.serializer", "value.serializer"), f"{_SERIALIZATION}Serializer")
    clients = jpype.JPackage("org.apache.kafka.clients.producer")
    producer = clients.KafkaProducer(_properties(settings | request["settings"]))
    record = clients.ProducerRecord(request["topic"], _array("x" * request["size"]))
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


def consume(request: dict[str, Any]) -> dict[str, Any]:
    """Read a topic as a member of a group, until there are `count` records or time is up."""
    names = ("key.deserializer", "value.deserializer")
    settings = dict.fromkeys(names, f"{_SERIALIZATION}Deserializer")
    settings |= {"enable.auto.commit": "false"}
    clients = jpype.JPackage("org.apache.kafka.clients.consumer")
    consumer = clients.KafkaConsumer(_properties(settings | request["settings"]))
    received: list[Any] = []
    try:
        consumer.subscribe(jpype.java.util.Arrays.asList(request["topic"]))
        until = time.monotonic() + request["seconds"]
        while len(received) < request["count"] and time.monotonic() < until:
            for one in consumer.poll(_timeout(consumer)):
                where = (str(one.topic()), int(one.partition()), int(one.offset()))
                received.append((*where, _string(one.key()), _string(one.value())))
        consumer.commitSync()
        return {"received": received}
    finally:
        consumer.close()


def _timeout(consumer: Any) -> Any:
    """How poll takes a time: a Duration since 2.0 (KIP-266), milliseconds before."""
    kinds = [
        method.getParameterTypes()[0].getSimpleName()
        for method in consumer.getClass().getMethods()
        if method.getName() == "poll" and method.getParameterCount() == 1
    ]
    if "Duration" in kinds:
        return jpype.java.time.Duration.ofMillis(_POLL_MS)
    return jpype.JLong(_POLL_MS)


def _properties(settings: dict[str, str]) -> Any:
    properties = jpype.java.util.Properties()
    for name, value in settings.items():
        properties.setProperty(name, value)
    return properties


def _array(value: str) -> Any:
    return jpype.JArray(jpype.JByte)(value.encode("latin-1"))


def _string(value: Any) -> str | None:
    return None if value is None else bytes(value).decode("latin-1")


DO: Final[dict[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "produce": produce,
    "pace": pace,
    "consume": consume,
}
"""What can be asked for."""


def _library(program: Path) -> str:
    """The JVM as a library, from the same directory as the program `java`."""
    return str(next((program.resolve().parents[1] / "lib" / "server").glob("libjvm.*")))


def main(program: str, classes: str) -> None:
    """Answer requests until there are no more."""
    # whatever Java prints must not stand between the answers
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    jpype.startJVM(_library(Path(program)), *_FLAGS, classpath=classes.split(os.pathsep))
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = DO[request["do"]](request)
        except (jpype.JException, AttributeError, TypeError) as problem:
            # the last two: a class or method that this version does not have, or has otherwise
            answer = {"error": str(problem)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    os._exit(0)  # threads of Java that hang must not hold it


if __name__ == "__main__":
    main(*sys.argv[1:])
