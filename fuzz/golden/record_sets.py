"""Golden record sets: each magic with each codec and container, each kind of batch, and malformed ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import map_of
from barnabas.fuzz.generators.containers import names, packing
from barnabas.fuzz.generators.messages import with_header
from barnabas.fuzz.mutators.registry import MUTATORS_BY_NAME
from barnabas.specs.keys import PRODUCE
from barnabas.specs.records import Batch, Record, build, control_key, marker_value, read
from barnabas.specs.registry import api

_NOW: Final = 1_500_000_000_000
_VALUE: Final = b"value " * 20
_MUTATORS: Final = (
    *("checksums", "batch_fields", "deltas", "magics", "attributes", "lengths", "counts"),
    *("beyond", "varints", "truncation", "bit_flips"),
)
_PATH: Final = "topic_data[0].partition_data[0]."
_VERSIONS: Final = (2, 2, 3)
"""A version of Produce for sets of each magic."""


class RecordSet(NamedTuple):
    """The bytes of a record set, and what it is.

    Attributes:
        case: A unique name.
        data: The bytes.
        batches: The batches in JSON; None for a malformed set.
        change: The field and the change of a malformed set, else "".
    """

    case: str
    data: bytes
    batches: list[dict[str, Any]] | None
    change: str = ""


def record_sets() -> list[RecordSet]:
    """Return the valid sets."""
    return [RecordSet(case, data, [_batch_json(b) for b in read(data)]) for case, data in _sets()]


def malformed_record_sets(valid: RecordSet, seed: str) -> Iterator[RecordSet]:
    """Yield sets that are a valid one with one change, of each mutator that applies.

    The mutators work on a Produce request that ends with the set.
    """
    magic = valid.data[16]
    version = _VERSIONS[magic]
    topics = [{"name": "t", "partition_data": [{"index": 0, "records": valid.data}]}]
    codec = api(PRODUCE).request.codec(version)
    encoded = codec.encode({"acks": -1, "timeout_ms": 0, "topic_data": topics})
    fields = map_of(with_header(PRODUCE, version, "request", encoded, "golden"))
    start = len(fields.seed.frame) - len(valid.data)
    for number, name in enumerate(_MUTATORS):
        dice = SeededRandom(f"{seed} {valid.case}", number)
        mutator = MUTATORS_BY_NAME[name]
        parts = [part for part in mutator.places(fields) if part.start >= start]
        if not parts:
            continue
        part = dice.pick(parts)
        mutated = mutator.apply(fields, part, dice)
        data = b"".join(mutated.chunks)[4 + start :]
        if data != valid.data:
            path = part.path.removeprefix(_PATH)
            yield RecordSet(f"{valid.case}-{name}", data, None, f"{path}: {mutated.detail}")


def _sets() -> Iterator[tuple[str, bytes]]:
    for magic in (0, 1, 2):
        for container in ("none", *names(zstd=magic == 2)):
            yield (
                f"magic{magic}-{container}",
                build(_records(magic), magic=magic, **packing(container, magic)),
            )
    appended = {"timestamp_type": "LogAppendTime", "max_timestamp": _NOW + 9}
    for magic in (1, 2):
        yield f"magic{magic}-log-append-time", build(_records(magic), magic=magic, **appended)  # type: ignore[arg-type]
    yield from ((f"magic2-{name}", data) for name, data in _kinds().items())


def _kinds() -> Mapping[str, bytes]:
    """Return sets of each kind of batch of magic 2."""
    producer: dict[str, Any] = {"producer_id": 7, "producer_epoch": 1}
    idempotent = build(_records(2), base_sequence=5, **producer)
    transactional = build(_records(2), base_sequence=5, is_transactional=True, **producer)
    commit, abort = (
        build(
            [Record(offset, _NOW, control_key(kind), marker_value(3))],
            is_transactional=True,
            is_control=True,
            **producer,
        )
        for offset, kind in ((3, "COMMIT"), (3, "ABORT"))
    )
    return {
        "idempotent": idempotent,
        "sequence-wraps": build(_records(2), base_sequence=(1 << 31) - 1, **producer),
        "transactional": transactional,
        "commit": transactional + commit,
        "abort": transactional + abort,
        "gap": build(_records(2)[::2], last_offset=9),
        "empty": build(
            [], base_offset=3, last_offset=9, base_timestamp=-1, max_timestamp=-1, **producer
        ),
        "delete-horizon": build(_records(2), delete_horizon=_NOW + 1000),
        "leader-epoch": build(_records(2), partition_leader_epoch=4),
        "mixed-magics": b"".join(
            build(_records(magic, 3 * magic), magic=magic) for magic in (0, 1, 2)
        ),
        "cut-off": idempotent + transactional[:30],
    }


def _records(magic: int, first: int = 0) -> list[Record]:
    """Return three records: with key and value, without a value, without a key."""
    headers = (("h", b"x"), ("", None)) if magic == 2 else ()
    return [
        Record(first, _NOW if magic else -1, b"key-1", _VALUE, headers),
        Record(first + 1, _NOW + 5 if magic else -1, b"", None),
        Record(first + 2, _NOW + 1 if magic else -1, None, b""),
    ]


def _batch_json(batch: Batch) -> dict[str, Any]:
    """Return a batch in JSON, with the names of Kafka's classes (DefaultRecordBatch); bytes in hex."""
    form: dict[str, Any] = {
        "magic": batch.magic,
        "baseOffset": batch.records()[0].offset if batch.base_offset is None else batch.base_offset,
        "lastOffset": batch.last_offset,
        "crc": batch.crc,
        "compression": batch.compression,
        "timestampType": batch.timestamp_type,
        "maxTimestamp": batch.max_timestamp,
    }
    if batch.magic == 2:
        form |= {
            "partitionLeaderEpoch": batch.partition_leader_epoch,
            "producerId": batch.producer_id,
            "producerEpoch": batch.producer_epoch,
            "baseSequence": batch.base_sequence,
            "isTransactional": batch.is_transactional,
            "isControlBatch": batch.is_control,
            "deleteHorizonMs": batch.delete_horizon,
        }
    return form | {"records": [_record_json(record, batch.magic) for record in batch]}


def _record_json(record: Record, magic: int) -> dict[str, Any]:
    form = {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": _hex(record.key),
        "value": _hex(record.value),
    }
    headers = [[name, _hex(value)] for name, value in record.headers]
    return form | ({"headers": headers} if magic == 2 else {})


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()
