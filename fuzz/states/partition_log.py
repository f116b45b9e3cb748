"""The alphabet of a partition's log: batches are written, read from any offset and deleted.

All conversations of a run use one partition, each from its end on: "first" is the log's end at the
conversation's beginning. The topic is the run's own, since others would change the end. Outputs tell where an
offset is, not its number: a machine would have no end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.sessions.bodies import records
from barnabas.fuzz.states.alphabet import Alphabet, Answer, Input, Memory, nothing
from barnabas.fuzz.states.fetch_session import BY_NAME
from barnabas.specs import keys
from barnabas.specs.groups import NONE, PARTITION_LOG
from barnabas.specs.groups import partition_log as events
from barnabas.specs.records import read

WITH_TOPIC_NAMES: Final = 12
"""The newest Produce with topic names."""
_LATEST: Final = -1
_EARLIEST: Final = "ListOffsets, earliest"
_WHOLE_BATCH: Final = 1
"""A limit of bytes that is smaller than any batch: the first batch is returned whole (KIP-74)."""

Offset = Callable[[Memory], int]


def _begins(name: str) -> Memory:
    run, _, _ = name.rpartition("-")
    return {"topic": run or name, "first": None, "start": None, "end": None}


def _began(memory: Memory, answer: Answer, error: str) -> None:
    if error == NONE and memory["first"] is None:
        end = answer["topics"][0]["partitions"][0]["offset"]
        memory.update(first=end, start=end, end=end)


def _list_offsets(name: str, timestamp: int, heard: Any = nothing, shown: Any = None) -> Input:
    partitions = [{"partition_index": 0, "timestamp": timestamp}]

    def fields(memory: Memory) -> Mapping[str, Any]:
        return {"topics": [{"name": memory["topic"], "partitions": partitions}]}

    return Input(name, keys.LIST_OFFSETS, fields, heard, shown=shown or (lambda _, __: ""))


def _created(memory: Memory) -> Mapping[str, Any] | None:
    """Return the topic to create; None once it is known to exist."""
    if memory["first"] is not None:
        return None
    return {"topics": [{"name": memory["topic"], "num_partitions": 1, "replication_factor": 1}]}


_CREATION: Final = Input("CreateTopics", keys.CREATE_TOPICS, _created)
_BEGINNING: Final = _list_offsets("ListOffsets of the beginning", _LATEST, _began)._replace(
    sent_before=_CREATION
)


def _produce(memory: Memory) -> Mapping[str, Any]:
    partitions = [{"index": 0, "records": records(WITH_TOPIC_NAMES)}]
    return {"topic_data": [{"name": memory["topic"], "partition_data": partitions}]}


def _produced(memory: Memory, answer: Answer, error: str) -> None:
    if error == NONE:
        base = answer["responses"][0]["partition_responses"][0]["base_offset"]
        memory["end"] = base + sum(
            len(batch.records()) for batch in read(records(WITH_TOPIC_NAMES))
        )


def _deleted(memory: Memory, answer: Answer, error: str) -> None:
    if error == NONE:
        memory["start"] = answer["topics"][0]["partitions"][0]["low_watermark"]


def _batch(offset: Offset, memory: Memory, answer: Answer) -> str:
    """Return where the first batch that a Fetch returns begins."""
    partitions = [each for topic in answer["responses"] for each in topic["partitions"]]
    batches = [batch for each in partitions for batch in read(each["records"] or b"")]
    if not batches:
        return "no batch"
    base = batches[0].base_offset
    if base is None or base > offset(memory):
        return "a batch after the offset"
    return "a batch at the offset" if base == offset(memory) else "the batch around the offset"


def _fetch(name: str, offset: Offset) -> Input:
    def fields(memory: Memory) -> Mapping[str, Any]:
        partition = {
            "partition": 0,
            "fetch_offset": offset(memory),
            "partition_max_bytes": _WHOLE_BATCH,
        }
        topics = [{"topic": memory["topic"], "partitions": [partition]}]
        return {"session_id": 0, "session_epoch": -1, "max_bytes": 1, "topics": topics}

    return Input(
        name,
        keys.FETCH,
        fields,
        event=name,
        shown=partial(_batch, offset),
        most=BY_NAME,
        sent_before=_BEGINNING,
    )


def _delete(name: str, offset: Offset) -> Input:
    def fields(memory: Memory) -> Mapping[str, Any]:
        partitions = [{"partition_index": 0, "offset": offset(memory)}]
        return {"topics": [{"name": memory["topic"], "partitions": partitions}]}

    return Input(name, keys.DELETE_RECORDS, fields, _deleted, name, sent_before=_BEGINNING)


def _offset(memory: Memory, name: str) -> int:
    """Return a known offset. Raises CannotRun if the topic could not be created or read."""
    if memory[name] is None:
        raise CannotRun(f"the broker tells no offset of topic {memory['topic']}: was it created?")
    return int(memory[name])


def _first(memory: Memory) -> int:
    return _offset(memory, "first")


def _inside(memory: Memory) -> int:
    return _first(memory) + 1


def _log_start(memory: Memory) -> int:
    return _offset(memory, "start")


def _end(memory: Memory) -> int:
    return _offset(memory, "end")


def _after(memory: Memory) -> int:
    return _end(memory) + 1


def _end_is_known(memory: Memory, answer: Answer) -> str:
    end = answer["topics"][0]["partitions"][0]["offset"]
    return "the end" if end == memory["end"] else "another offset"


def _start(memory: Memory, answer: Answer) -> str:
    start, first = answer["topics"][0]["partitions"][0]["offset"], memory["first"]
    if start <= first:
        return "the first offset"
    if start == memory["end"]:
        return "the end"
    return "inside the first batch" if start == first + 1 else "after the first batch"


LOG: Final = Alphabet(
    "partition-log",
    "a partition's log: batches are written, read from any offset and deleted",
    (keys.PRODUCE, keys.FETCH, keys.LIST_OFFSETS, keys.DELETE_RECORDS),
    _begins,
    (
        Input(
            events.WRITE,
            keys.PRODUCE,
            _produce,
            _produced,
            events.WRITE,
            most=WITH_TOPIC_NAMES,
            sent_before=_BEGINNING,
        ),
        _fetch(events.READ_FIRST, _first),
        _fetch(events.READ_INSIDE, _inside),
        _fetch(events.READ_START, _log_start),
        _fetch(events.READ_END, _end),
        _fetch(events.READ_AFTER, _after),
        _delete(events.DELETE_INSIDE, _inside),
        _delete(events.DELETE_ALL, lambda _: -1),
        _list_offsets("ListOffsets, latest", _LATEST, shown=_end_is_known)._replace(
            sent_before=_BEGINNING
        ),
        _list_offsets(_EARLIEST, -2, shown=_start)._replace(sent_before=_BEGINNING),
    ),
    PARTITION_LOG,
    describes=_EARLIEST,
)
