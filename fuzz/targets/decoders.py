"""The decoders of barnabas, as functions that read a case."""

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
    """A decoder: its name, what it reads, and which exceptions it documents."""

    name: str
    description: str
    reads: Reads
    documented: tuple[type[Exception], ...]


def read_frames(case: Case) -> Mapping[str, Any]:
    """Decode a frame, encode it and decode it again. Raises Malformed, LookupError.

    Returns:
        Facts: `otherwise`, the fields that differ in another decoding of the same message; `wrote`, a digest
            of the encoded message, or `unwritten`, the reason why it can't be encoded.
    """
    return _frame(case)[1]


def read_specs(case: Case) -> Mapping[str, Any]:
    """Decode a frame, its embedded messages and its record batches. Raises Malformed, LookupError."""
    frame, facts = _frame(case)
    reveal(frame.key, frame.direction, frame.body)
    for _, data in record_sets(frame.body):
        records.summary(data)
        for batch in records.read(data):
            batch.records()
    return facts


def _frame(case: Case) -> tuple[Frame, dict[str, Any]]:
    """Decode a frame; return it with the facts of `read_frames`."""
    seed = case.recipe.seed
    whole = b"".join(case.chunks)[4:]
    frame = decode_frame(whole, seed.direction, key=seed.key, version=seed.version)
    facts: dict[str, Any] = {}
    body = frame_body(whole, frame)
    careful, oddities = api(frame.key).message(frame.direction).codec(frame.version).inspect(body)
    try:
        data = encode_frame(frame)[4:]
    except Unfit as problem:
        # a negative tag number can be read but not written, as in Kafka (RawTaggedFieldWriter)
        if not problem.path.endswith("_tags"):
            if seed.direction == "request":
                header = header_codec("request", frame.key, frame.version)
                oddities += header.inspect(whole[: -len(body) or None])[1]
            # nor can a string of nearly maximal length, whose invalid bytes are replaced by longer ones
            if (problem.path, INVALID_UTF8) not in {
                (oddity.path, oddity.what) for oddity in oddities
            }:
                raise
        facts["unwritten"] = str(problem)
    else:
        facts["wrote"] = digest(data)
        decoded_again = decode_frame(data, frame.direction, key=frame.key, version=frame.version)
        facts["otherwise"] = [
            name
            for name, value in frame.body.items()
            if _differ(value, decoded_again.body.get(name))
        ]
    if _differ(careful, frame.body):
        facts["otherwise"] = ["the careful decoder's result"]
    return frame, facts


def _differ(first: Any, second: Any) -> bool:
    # NaN is not equal to itself
    return bool(first != second) and repr(first) != repr(second)


def read_captures(case: Case) -> Mapping[str, Any]:
    """Read a capture of the frame: exchanges, their log lines, embedded messages. Raises CaptureError."""
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
    """Return a request that the case's response may answer."""
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
"""The name of Kafka's own classes, to compare with."""


def decoder(name: str) -> Target:
    """Return a decoder as a target. Raises barnabas.fuzz.errors.Misuse for an unknown name."""
    for known_decoder in DECODERS:
        if known_decoder.name == name:
            return DecoderTarget(f"decoder {name}", known_decoder.reads, known_decoder.documented)
    kind, at, version = name.partition("@")
    if kind == KAFKA and at:
        from barnabas.fuzz.targets.kafka_classes import KafkaClasses

        return KafkaClasses(version)
    names = ", ".join((*(known_decoder.name for known_decoder in DECODERS), f"{KAFKA}@4.4.0"))
    raise Misuse(f"decoder:{name}: unknown; choose one of: {names}")
