"""The program of `ErrorClient`'s process: `python -m` with JAVA and CLASSPATH."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any

import jpype

from barnabas.designs.rebalances.java.consumers import exception_name
from barnabas.peers.apache.client_process import records_of, serve
from barnabas.peers.apache.client_values import (
    java_list,
    new_consumer,
    new_producer,
    package,
    poll_timeout,
    properties,
    string,
)
from tests.peers.java.process import FULL


def produce_each(request: dict[str, Any]) -> dict[str, Any]:
    """Send values, and return the offset or the exception of each."""
    producer = new_producer(request["settings"])
    results: list[list[Any]] = []
    try:
        waiting: list[Any] = []
        for record in records_of(request):
            try:
                waiting.append(producer.send(record))
            except jpype.JException as problem:
                waiting.append(problem)
            if not request["together"]:
                results.append(_result(waiting.pop()))
        results += [_result(future) for future in waiting]
        return {"results": results}
    finally:
        producer.close()


def _result(future: Any) -> list[Any]:
    """Return the offset and the exception of a record: one of them is None."""
    if isinstance(future, jpype.JException):
        return [None, exception_name(future)]
    try:
        return [int(future.get().offset()), None]
    except jpype.JException as problem:
        return [None, exception_name(problem.getCause() or problem)]


def consume_on(request: dict[str, Any]) -> dict[str, Any]:
    """Read a topic until a value arrives; note an exception of poll, and call poll again.

    skip: seek past the record that a RecordDeserializationException names.
    """
    consumer = new_consumer(request["settings"])
    received: list[list[Any]] = []
    problems: list[str] = []
    try:
        consumer.subscribe(java_list(request["topic"]))
        timeout = poll_timeout(consumer)
        deadline = time.monotonic() + request["seconds"]
        while time.monotonic() < deadline and len(problems) < request["limit"]:
            try:
                found = consumer.poll(timeout)
            except jpype.JException as problem:
                problems.append(exception_name(problem))
                if request["skip"]:
                    consumer.seek(problem.topicPartition(), problem.offset() + 1)
                continue
            received += [[int(one.offset()), _text(one.value())] for one in found]
            if received and received[-1][1] == request["last"]:
                break
        return {"received": received, "problems": problems}
    finally:
        with contextlib.suppress(jpype.JException):  # it may throw what poll would have thrown
            consumer.close()


def _text(value: Any) -> str | None:
    """Return a number in decimal, a byte[] as characters 0 to 255."""
    return str(value) if isinstance(value, jpype.java.lang.Number) else string(value)


def try_create(request: dict[str, Any]) -> dict[str, Any]:
    """Create a topic with AdminClient, and return the exception's class, or None."""
    settings = properties(request["settings"])
    admin = package("admin").AdminClient.create(settings)
    try:
        admin.createTopics(java_list(package("admin").NewTopic(request["topic"], 1, 1))).all().get()
        return {"problem": None}
    except jpype.JException as problem:
        return {"problem": exception_name(problem.getCause() or problem)}
    finally:
        admin.close()


CALLS = {**FULL, "produce_each": produce_each, "consume_on": consume_on, "try_create": try_create}

if __name__ == "__main__":
    serve(CALLS, *sys.argv[1:])
