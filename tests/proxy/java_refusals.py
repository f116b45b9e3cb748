"""What runs in a JVM's process: `python -m tests.proxy.java_refusals JAVA CLASSPATH`.

Reads requests as JSON, a line each (key, version, body in hex, code of an error), and answers each with
the body of the response that Kafka's own class refuses it with, or why it does not. The names are those
of the package org.apache.kafka.common.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import jpype

from barnabas.peers.apache.client_process import library


def refused(key: int, version: int, body: bytes, code: int) -> dict[str, Any]:
    """`AbstractRequest.getErrorResponse` of a request: its body, or null where it has none."""
    common = jpype.JPackage("org.apache.kafka.common")
    buffer = jpype.java.nio.ByteBuffer.wrap(jpype.JArray(jpype.JByte)(body))
    protocol = common.protocol
    api = protocol.ApiKeys.forId(key)
    parse = common.requests.AbstractRequest.parseRequest
    try:
        request = parse(api, jpype.JShort(version), protocol.ByteBufferAccessor(buffer)).request
    except TypeError:  # until 4.0
        request = parse(api, jpype.JShort(version), buffer).request
    error = protocol.Errors.forCode(jpype.JShort(code)).exception()
    response = request.getErrorResponse(0, error)
    if response is None:
        return {"body": None}
    data, cache = response.data(), protocol.ObjectSerializationCache()
    written = protocol.ByteBufferAccessor(
        jpype.java.nio.ByteBuffer.allocate(data.size(cache, jpype.JShort(version)))
    )
    data.write(written, cache, jpype.JShort(version))
    array = written.buffer().array()
    return {"body": bytes(array).hex()}


def main(program: str, classes: str) -> None:
    """Answer requests until there are no more."""
    answers = os.fdopen(os.dup(1), "w")  # whatever Java prints must not stand between the answers
    os.dup2(2, 1)
    jpype.startJVM(library(Path(program)), "-Xmx256m", classpath=classes.split(os.pathsep))
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            body = bytes.fromhex(asked["body"])
            answer = refused(asked["key"], asked["version"], body, asked["code"])
        except jpype.JException as problem:
            answer = {"error": str(problem)}
        answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
