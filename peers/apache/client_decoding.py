"""Messages read and written again by Kafka's own classes, in a Java client's process.

The generated classes of org.apache.kafka.common.message came with 2.4, in this form with 3.0. Reading is
done as a broker does it: without asking whether all bytes were needed.
"""

from __future__ import annotations

from typing import Any

import jpype

_KEYS = range(128)
"""API keys that are looked for."""


def decode(request: dict[str, Any]) -> dict[str, Any]:
    """Read frames without their sizes: [key, version, "request" or "response", bytes] each."""
    return {"read": [_read(*one) for one in request["messages"]]}


def decodes(request: dict[str, Any]) -> dict[str, Any]:
    """The versions that there are classes for: [key, first, last] of each API."""
    types = jpype.JPackage("org.apache.kafka.common.message").ApiMessageType
    found = []
    for key in _KEYS:
        try:
            one = types.fromApiKey(jpype.JShort(key))
        except jpype.JException:
            continue
        found.append([key, int(one.lowestSupportedVersion()), _last(one)])
    return {"versions": found}


def _last(one: Any) -> int:
    try:
        return int(one.highestSupportedVersion(True))  # those that are not stable yet, too (3.4)
    except TypeError:
        return int(one.highestSupportedVersion())


def _read(key: int, version: int, direction: str, text: str) -> dict[str, Any]:
    common = jpype.JPackage("org.apache.kafka.common")
    buffer = jpype.java.nio.ByteBuffer.wrap(jpype.JArray(jpype.JByte)(text.encode("latin-1")))
    readable = common.protocol.ByteBufferAccessor(buffer)
    try:
        of = common.message.ApiMessageType.fromApiKey(jpype.JShort(key))
        if direction == "request":
            header, body = common.message.RequestHeaderData(), of.newRequest()
            header_version = of.requestHeaderVersion(jpype.JShort(version))
        else:
            header, body = common.message.ResponseHeaderData(), of.newResponse()
            header_version = of.responseHeaderVersion(jpype.JShort(version))
        parts = ((header, header_version), (body, version))
        for message, number in parts:
            message.read(readable, jpype.JShort(number))
    except jpype.JException as problem:
        return {"refused": str(problem)}
    left = int(buffer.remaining())
    try:
        wrote = "".join(_written(common, message, number) for message, number in parts)
    except jpype.JException as problem:
        return {"left": left, "unwritten": str(problem)}
    return {"left": left, "wrote": wrote}


def _written(common: Any, message: Any, version: int) -> str:
    cache = common.protocol.ObjectSerializationCache()
    size = message.size(cache, jpype.JShort(version))
    buffer = jpype.java.nio.ByteBuffer.allocate(size)
    message.write(common.protocol.ByteBufferAccessor(buffer), cache, jpype.JShort(version))
    return bytes(buffer.array()).decode("latin-1")
