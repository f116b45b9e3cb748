"""Messages and record sets read by Kafka's own classes, in a Java client's process.

The generated classes of org.apache.kafka.common.message came with 2.4, in this form with 3.0. Decoding
ignores remaining bytes, as a broker does.
"""

from __future__ import annotations

from typing import Any

import jpype

_KEYS = range(128)
"""API keys that are looked for."""


def decode(request: dict[str, Any]) -> dict[str, Any]:
    """Decode frames without sizes ([key, version, "request" or "response", bytes]) and encode them again."""
    return {"read": [_read(*message) for message in request["messages"]]}


def decodes(request: dict[str, Any]) -> dict[str, Any]:
    """Return [key, first version, last version] of each API with generated classes."""
    types = jpype.JPackage("org.apache.kafka.common.message").ApiMessageType
    versions = []
    for key in _KEYS:
        try:
            api = types.fromApiKey(jpype.JShort(key))
        except jpype.JException:
            continue
        versions.append([key, int(api.lowestSupportedVersion()), _last(api)])
    return {"versions": versions}


def read_sets(request: dict[str, Any]) -> dict[str, Any]:
    """Read all records of record sets, and check the batches, as a consumer does."""
    return {"read": [_read_set(text) for text in request["sets"]]}


def _read_set(text: str) -> dict[str, Any]:
    records = jpype.JPackage("org.apache.kafka.common.record")
    package = records if hasattr(records, "MemoryRecords") else records.internal  # since 4.4
    count = 0
    try:
        for batch in package.MemoryRecords.readableRecords(_buffer(text)).batches():
            batch.ensureValid()
            for each in batch:
                each.key()  # is read only now in magic 0 and 1
                each.value()
                count += 1
    except jpype.JException as problem:
        return {"records": count, "refused": str(problem)}
    return {"records": count}


def _buffer(text: str) -> Any:
    return jpype.java.nio.ByteBuffer.wrap(jpype.JArray(jpype.JByte)(text.encode("latin-1")))


def _last(api: Any) -> int:
    try:
        return int(api.highestSupportedVersion(True))  # those that are not stable yet, too (3.4)
    except TypeError:
        return int(api.highestSupportedVersion())


def _read(key: int, version: int, direction: str, text: str) -> dict[str, Any]:
    common = jpype.JPackage("org.apache.kafka.common")
    buffer = _buffer(text)
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
    remaining = int(buffer.remaining())
    try:
        wrote = "".join(_written(common, message, number) for message, number in parts)
    except jpype.JException as problem:
        return {"left": remaining, "unwritten": str(problem)}
    return {"left": remaining, "wrote": wrote}


def _written(common: Any, message: Any, version: int) -> str:
    cache = common.protocol.ObjectSerializationCache()
    size = message.size(cache, jpype.JShort(version))
    buffer = jpype.java.nio.ByteBuffer.allocate(size)
    message.write(common.protocol.ByteBufferAccessor(buffer), cache, jpype.JShort(version))
    return bytes(buffer.array()).decode("latin-1")
