"""Transactions of one producer, one after the other, in a Java client's process."""

from __future__ import annotations

from typing import Any

import jpype

from barnabas.designs.rebalances.java.consumers import exception_name
from barnabas.peers.apache.client_values import array, new_producer, package


def transact(request: dict[str, Any]) -> dict[str, Any]:
    """Send the values of each transaction to the topic's first partition, and end it as it says.

    Gives the exceptions of each by their classes, that of an abort behind the one for which it was
    aborted. When an abort fails too, the producer is done with, and so are the transactions left.
    """
    producer = new_producer(request["settings"])
    told: list[list[str]] = []
    try:
        producer.initTransactions()
        for values, outcome in request["transactions"]:
            told.append([])
            try:
                _transact(producer, request["topic"], values, outcome)
            except jpype.JException as problem:
                told[-1].append(_name(problem))
                try:
                    producer.abortTransaction()
                except jpype.JException as last:
                    told[-1].append(_name(last))
                    break
        return {"told": told}
    finally:
        producer.close()


def _transact(producer: Any, topic: str, values: list[str], outcome: str) -> None:
    record = package("producer").ProducerRecord
    producer.beginTransaction()
    for value in values:
        producer.send(record(topic, jpype.JInt(0), None, array(value)))
    producer.flush()
    if outcome == "commit":
        producer.commitTransaction()
    else:
        producer.abortTransaction()


def _name(problem: Any) -> str:
    """The exception's class, or its cause's where it just says that the producer has failed before."""
    name = exception_name(problem)
    cause = problem.getCause() if name == "KafkaException" else None
    return name if cause is None else exception_name(cause)
