"""Between Python's values and Java's, in a Java client's process (barnabas.peers.apache.client_process)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import jpype

_SERIALIZATION: Final = "org.apache.kafka.common.serialization.ByteArray"
_POLL_MS: Final = 200


def package(name: str) -> Any:
    """A package of Kafka's clients, e.g. `producer`."""
    return jpype.JPackage(f"org.apache.kafka.clients.{name}")


def new_producer(settings: dict[str, str]) -> Any:
    """A KafkaProducer of bytes."""
    own = dict.fromkeys(("key.serializer", "value.serializer"), f"{_SERIALIZATION}Serializer")
    return package("producer").KafkaProducer(properties(own | settings))


def new_consumer(settings: dict[str, str]) -> Any:
    """A KafkaConsumer of bytes, which commits when it is told to."""
    names = ("key.deserializer", "value.deserializer")
    own = dict.fromkeys(names, f"{_SERIALIZATION}Deserializer") | {"enable.auto.commit": "false"}
    return package("consumer").KafkaConsumer(properties(own | settings))


def poll_timeout(consumer: Any, milliseconds: int = _POLL_MS) -> Any:
    """How poll takes a time: a Duration since 2.0 (KIP-266), milliseconds before."""
    kinds = [
        method.getParameterTypes()[0].getSimpleName()
        for method in consumer.getClass().getMethods()
        if method.getName() == "poll" and method.getParameterCount() == 1
    ]
    if "Duration" in kinds:
        return jpype.java.time.Duration.ofMillis(milliseconds)
    return jpype.JLong(milliseconds)


def java_list(*values: Any) -> Any:
    """A java.util.List."""
    return jpype.java.util.Arrays.asList(*values)


def properties(settings: dict[str, str]) -> Any:
    """java.util.Properties."""
    made = jpype.java.util.Properties()
    for name, value in settings.items():
        made.setProperty(name, value)
    return made


def array(value: str) -> Any:
    """A byte[] of the characters 0 to 255."""
    return jpype.JArray(jpype.JByte)(value.encode("latin-1"))


def string(value: Any) -> str | None:
    """A byte[] as characters 0 to 255."""
    return None if value is None else bytes(value).decode("latin-1")


def until(ready: Callable[[], bool], seconds: float, what: Callable[[], str]) -> None:
    """Wait until it is so. Raises TimeoutError, saying what was there instead."""
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {seconds:g} s: {what()}")
        time.sleep(0.05)
