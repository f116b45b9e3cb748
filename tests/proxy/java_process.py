"""What runs in a process with a JVM: `python -m tests.proxy.java_process QUESTION JAVA CLASSPATH`.

It reads lines, and answers each with one of JSON:

- principal: of a certificate (DER in hex) the name that Kafka's DefaultKafkaPrincipalBuilder asks the TLS
  session's principal for.
- refusal: of a request as JSON (key, version, body in hex, code of an error) the body of the response that
  Kafka's own class refuses it with, or why it does not. The names are those of org.apache.kafka.common.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jpype

from barnabas.peers.apache.java import java, library


def ask_java(question: str, lines: Iterable[str], classes: Iterable[Path] = ()) -> list[Any]:
    """Java's answers to lines of a question."""
    class_path = os.pathsep.join(map(str, classes))
    said = subprocess.run(
        [sys.executable, "-m", "tests.proxy.java_process", question, str(java()), class_path],
        input="".join(f"{line}\n" for line in lines),
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    return [json.loads(line) for line in said.stdout.splitlines()]


def principal(line: str) -> str:
    data = jpype.java.io.ByteArrayInputStream(jpype.JArray(jpype.JByte)(bytes.fromhex(line)))
    factory = jpype.java.security.cert.CertificateFactory.getInstance("X.509")
    return str(factory.generateCertificate(data).getSubjectX500Principal().getName())


def refusal(line: str) -> dict[str, Any]:
    """`AbstractRequest.getErrorResponse` of a request: its body, or null where it has none."""
    asked = json.loads(line)
    try:
        body = refused(asked["key"], asked["version"], bytes.fromhex(asked["body"]), asked["code"])
    except jpype.JException as problem:
        return {"error": str(problem)}
    return {"body": None if body is None else body.hex()}


def refused(key: int, version: int, body: bytes, code: int) -> bytes | None:
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
        return None
    data, cache = response.data(), protocol.ObjectSerializationCache()
    written = protocol.ByteBufferAccessor(
        jpype.java.nio.ByteBuffer.allocate(data.size(cache, jpype.JShort(version)))
    )
    data.write(written, cache, jpype.JShort(version))
    return bytes(written.buffer().array())


def main(question: str, program: str, classes: str) -> None:
    """Answer until there are no more lines."""
    answers = os.fdopen(os.dup(1), "w")  # whatever Java prints must not stand between the answers
    os.dup2(2, 1)
    jpype.startJVM(library(Path(program)), "-Xmx256m", classpath=classes.split(os.pathsep))
    answer = {"principal": principal, "refusal": refusal}[question]
    for line in sys.stdin:
        answers.write(json.dumps(answer(line)) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
