"""The program of a Java client's process: `python -m barnabas.peers.apache.client_process JAVA CLASSPATH`.

It reads a JSON object a line and writes a response with the same number for each (see
barnabas.peers.apache.client); bytes are strings of the characters 0 to 255. Java's own output goes to stderr.
The names are those of the package org.apache.kafka.clients.
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

from barnabas.peers.apache.client_admin import create_topic
from barnabas.peers.apache.client_decoding import decode, decodes, read_sets
from barnabas.peers.apache.client_values import array, new_producer, package
from barnabas.peers.apache.java import library
from barnabas.peers.apache.jvm import QUICK

_FLAGS: Final = ("-Xmx128m", *QUICK)


def produce(request: dict[str, Any]) -> dict[str, Any]:
    """Send values to a topic."""
    producer = new_producer(request["settings"])
    try:
        futures = [producer.send(record) for record in records_of(request)]
        results = [future.get() for future in futures]
        return {"sent": [(int(result.partition()), int(result.offset())) for result in results]}
    finally:
        producer.close()


def records_of(request: dict[str, Any]) -> list[Any]:
    """Return the ProducerRecords of a request to send values."""
    record = package("producer").ProducerRecord
    topic, values = request["topic"], [array(value) for value in request["values"]]
    if request["partitions"] is None:
        return [record(topic, value) for value in values]
    pairs = zip(request["partitions"], values, strict=True)
    return [record(topic, jpype.JInt(number), None, value) for number, value in pairs]


def pace(request: dict[str, Any]) -> dict[str, Any]:
    """Send records at a fixed rate, and return each record's latency in microseconds.

    A record that was sent late counts from its due time.
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
    """Return the latencies of sent records, in the order of sending, until None arrives."""
    took = []
    while (record := under_way.get()) is not None:
        due, sent = record
        sent.get()
        took.append((time.perf_counter_ns() - due) // 1000)
    return took


def setting_names(request: dict[str, Any]) -> dict[str, Any]:
    """Return the names of all broker settings; only the jars of brokers have them."""
    names = jpype.JClass("kafka.server.KafkaConfig").configNames()
    return {"names": str(names.mkString("\n")).split()}


Calls = dict[str, Callable[[dict[str, Any]], dict[str, Any]]]

CALLS: Final[Calls] = {
    "produce": produce,
    "pace": pace,
    "create_topic": create_topic,
    "decode": decode,
    "decodes": decodes,
    "read_sets": read_sets,
    "setting_names": setting_names,
}
"""The calls of JavaClient; other programs serve more."""


def serve(calls: Calls, program: str, classes: str) -> None:
    """Respond to requests for these calls until stdin ends."""
    # Java's output must not stand between the responses
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
    """Yield requests from stdin. At its end the process exits at once, since calls into Java may hang."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield json.loads(lines.get())


if __name__ == "__main__":
    serve(CALLS, *sys.argv[1:])
