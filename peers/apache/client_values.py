"""Conversion between Python's and Java's values, in a Java client's process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import jpype

_SERIALIZATION: Final = "org.apache.kafka.common.serialization.ByteArray"
_POLL_MS: Final = 200


def package(name: str) -> Any:
    """Return a package of kafka-clients, e.g. `producer`."""
    return jpype.JPackage(f"org.apache.kafka.clients.{name}")


def new_producer(settings: dict[str, str]) -> Any:
    """Create a KafkaProducer of bytes."""
    serializers = dict.fromkeys(
        ("key.serializer", "value.serializer"), f"{_SERIALIZATION}Serializer"
    )
    return package("producer").KafkaProducer(properties(serializers | settings))


def new_consumer(settings: dict[str, str]) -> Any:
    """Create a KafkaConsumer of bytes without automatic commits."""
    names = ("key.deserializer", "value.deserializer")
    defaults = dict.fromkeys(names, f"{_SERIALIZATION}Deserializer") | {
        "enable.auto.commit": "false"
    }
    return package("consumer").KafkaConsumer(properties(defaults | settings))


def poll_timeout(consumer: Any, milliseconds: int = _POLL_MS) -> Any:
    """Return the timeout argument of `poll`: a Duration since 2.0 (KIP-266), milliseconds before."""
    types = [
        method.getParameterTypes()[0].getSimpleName()
        for method in consumer.getClass().getMethods()
        if method.getName() == "poll" and method.getParameterCount() == 1
    ]
    if "Duration" in types:
        return jpype.java.time.Duration.ofMillis(milliseconds)
    return jpype.JLong(milliseconds)


def java_list(*values: Any) -> Any:
    """Create a java.util.List."""
    return jpype.java.util.Arrays.asList(*values)


def properties(settings: dict[str, str]) -> Any:
    """Create a java.util.Properties."""
    table = jpype.java.util.Properties()
    for name, value in settings.items():
        table.setProperty(name, value)
    return table


def array(value: str) -> Any:
    """Convert characters 0 to 255 to a byte[]."""
    return jpype.JArray(jpype.JByte)(value.encode("latin-1"))


def string(value: Any) -> str | None:
    """Convert a byte[] to characters 0 to 255."""
    return None if value is None else bytes(value).decode("latin-1")


def until(ready: Callable[[], bool], seconds: float, state: Callable[[], str]) -> None:
    """Wait until a condition holds. Raises TimeoutError, with the text of `state`."""
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {seconds:g} s: {state()}")
        time.sleep(0.05)
