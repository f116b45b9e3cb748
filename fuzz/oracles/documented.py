"""The exceptions that clients document: only these may leave a client, whatever a broker sends.

An entry names a base class: an application that catches it catches all that is documented. Entries follow
from each client's own documents, named in the entry, not from the behaviour of a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

DOCUMENTED: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "kafka-python",
        "kafka.errors.KafkaError",
        "kafka-python.readthedocs.io: each call's Raises are of kafka.errors, of which this is the base",
    ),
    (
        "confluent-kafka",
        "cimpl.KafkaException",
        "docs.confluent.io, confluent_kafka API: KafkaException wraps every KafkaError",
    ),
    (
        "confluent-kafka",
        "confluent_kafka.error._KafkaException",
        "the same page: ConsumeError, ProduceError and the serializers' errors",
    ),
    (
        "confluent-kafka",
        "BufferError",
        "the same page, Producer.produce: the local queue is full",
    ),
    (
        "aiokafka",
        "aiokafka.errors.KafkaError",
        "aiokafka.readthedocs.io, API: errors are of aiokafka.errors, of which this is the base",
    ),
    (
        "aiokafka",
        "aiokafka.errors.IllegalOperation",
        "the same page: what is not available now, such as sending when the transaction has failed",
    ),
    (
        "aiokafka",
        "aiokafka.errors.ConsumerStoppedError",
        "the same page: of calls that wait when the consumer is stopped",
    ),
    (
        "java",
        "org.apache.kafka.common.KafkaException",
        "javadoc of KafkaConsumer, KafkaProducer and Admin: the base of all that they throw at runtime",
    ),
)
"""(client, class, source)."""

BY_FUNCTION: Final = (
    (
        "kafka-python",
        "ValueError",
        ("kafka/producer/kafka.py:_partition", "kafka/producer/kafka.py:send"),
        "KafkaProducer.send: the partitioner fails to assign a partition, as metadata lack it",
    ),
)
"""(client, class, innermost functions, source): exceptions that only these may raise."""


def documented(client: str, bases: Sequence[str], frames: Sequence[str] = ()) -> bool:
    """Return whether a client documents an exception with these bases (its own class first) and frames.

    >>> documented("kafka-python", ["kafka.errors.KafkaTimeoutError", "kafka.errors.KafkaError"])
    True
    >>> documented("kafka-python", ["ValueError", "Exception"])
    False
    >>> documented("kafka-python", ["ValueError", "Exception"], ["kafka/producer/kafka.py:send"])
    True
    """
    return any(name == client and base in bases for name, base, _ in DOCUMENTED) or any(
        name == client and base in bases and frames and frames[0] in functions
        for name, base, functions, _ in BY_FUNCTION
    )
