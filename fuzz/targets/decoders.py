"""This project's own decoders, as functions that read a case."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.host_port import Endpoint
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.facts import facts
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.embedded import inside
from barnabas.captures.kafka.log_line import details
from barnabas.captures.reader import CaptureReader
from barnabas.captures.values.record_sets import record_sets
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.targets.decoder import DecoderTarget, Reads
from barnabas.fuzz.targets.outcomes import digest
from barnabas.fuzz.targets.target import Target
from barnabas.specs import Malformed, Unfit, decode_frame, encode_frame, records
from barnabas.specs.codec.careful_decoder import INVALID_UTF8
from barnabas.specs.embedded import reveal
from barnabas.specs.frames import Frame, frame_body
from barnabas.specs.headers import encode_header, header_codec
from barnabas.specs.registry import api

CLIENT: Final[Endpoint] = ("127.0.0.1", 40000)
BROKER: Final[Endpoint] = ("127.0.0.1", 9092)


class Decoder(NamedTuple):
    """A decoder: what it is called, what it reads, and what it may raise."""

    name: str
    about: str
    reads: Reads
    documented: tuple[type[Exception], ...]


def read_frames(case: Case) -> Mapping[str, Any]:
    """The frame, both ways. Raises Malformed, LookupError.

    Facts: `otherwise`, the names of fields that another decoding of the same message gives otherwise;
    `wrote`, a digest of the message as it is written again, or `unwritten`, why it can't be.
    """
    return _frame(case)[1]


def read_specs(case: Case) -> Mapping[str, Any]:
    """The same; what hides inside it; its record batches. Raises Malformed, LookupError."""
    frame, found = _frame(case)
    reveal(frame.key, frame.direction, frame.body)
    for _, data in record_sets(frame.body):
        records.summary(data)
        for batch in records.read(data):
            batch.records()
    return found


def _frame(case: Case) -> tuple[Frame, dict[str, Any]]:
    """A frame, and what is to be said of reading it."""
    seed = case.recipe.seed
    whole = b"".join(case.chunks)[4:]
    frame = decode_frame(whole, seed.direction, key=seed.key, version=seed.version)
    found: dict[str, Any] = {}
    body = frame_body(whole, frame)
    careful, odd = api(frame.key).message(frame.direction).codec(frame.version).inspect(body)
    try:
        data = encode_frame(frame)[4:]
    except Unfit as problem:
        # a negative number of a tag can be read and can't be written, as in Kafka (RawTaggedFieldWriter)
        if not problem.path.endswith("_tags"):
            if seed.direction == "request":
                header = header_codec("request", frame.key, frame.version)
                odd += header.inspect(whole[: -len(body) or None])[1]
            # nor can a text that was nearly too long: what stands for wrong bytes is longer, there, too
            if (problem.path, INVALID_UTF8) not in {(one.path, one.what) for one in odd}:
                raise
        found["unwritten"] = str(problem)
    else:
        found["wrote"] = digest(data)
        again = decode_frame(data, frame.direction, key=frame.key, version=frame.version)
        found["otherwise"] = [
            name for name, value in frame.body.items() if _differ(value, again.body.get(name))
        ]
    if _differ(careful, frame.body):
        found["otherwise"] = ["the careful decoder's result"]
    return frame, found


def _differ(one: Any, other: Any) -> bool:
    # a float that is no number is not equal to itself
    return bool(one != other) and repr(one) != repr(other)


def read_captures(case: Case) -> Mapping[str, Any]:
    """What a capture shows of it: exchanges, their lines, what hides inside. Raises CaptureError."""
    seed = case.recipe.seed
    with tempfile.TemporaryDirectory(prefix="barnabas-") as folder:
        path = Path(folder) / "case.pcapng"
        with CaptureWriter(path, limit=None, meta={}) as writer:
            flow = writer.open(0, CLIENT, BROKER, 0, {})
            if seed.direction == "response":
                flow.arrived("request", _question(case), 1)
            for chunk in case.chunks:
                flow.arrived(seed.direction, chunk, 2)
        context = Context()
        count = 0
        for exchange in Conversations(inferred=True, strays=True).exchanges(CaptureReader(path)):
            count += 1
            context.learn(exchange)
            details(exchange, context)
            facts(exchange, context)
            inside(exchange, context)
            exchange.row()
    return {"exchanges": count}


def _question(case: Case) -> bytes:
    """A request that the case's response may be an answer to."""
    seed = case.recipe.seed
    whole = b"".join(case.chunks)
    correlation_id = int.from_bytes(whole[4:8].ljust(4, b"\0"), signed=True)
    header = encode_header("request", seed.key, seed.version, correlation_id)
    body = api(seed.key).request.codec(seed.version).encode({})
    return struct.pack(">i", len(header) + len(body)) + header + body


# fmt: off
DECODERS: Final[tuple[Decoder, ...]] = (
    Decoder("specs", "frames, embedded messages and record batches", read_specs,
            (Malformed, LookupError)),
    Decoder("captures", "a capture of the frame, read back as log lines", read_captures, (CaptureError,)),
    Decoder("frames", "frames alone", read_frames, (Malformed, LookupError)),
)
# fmt: on


KAFKA: Final = "kafka-clients"
"""Kafka's own classes: to compare with."""


def decoder(name: str) -> Target:
    """One of our own as a target, or Kafka's. Raises barnabas.fuzz.errors.Misuse."""
    for one in DECODERS:
        if one.name == name:
            return DecoderTarget(f"decoder {name}", one.reads, one.documented)
    which, at, version = name.partition("@")
    if which == KAFKA and at:
        from barnabas.fuzz.targets.kafka_classes import KafkaClasses

        return KafkaClasses(version)
    names = ", ".join((*(one.name for one in DECODERS), f"{KAFKA}@4.4.0"))
    raise Misuse(f"decoder:{name}: unknown; choose one of: {names}")
