"""The alphabet of a consumer's fetch session (KIP-227; FetchManager)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.sessions.session import TOPIC
from barnabas.fuzz.states.alphabet import Alphabet, Answer, Input, Memory, nothing
from barnabas.specs import keys
from barnabas.specs.groups import FETCH_SESSION, NONE
from barnabas.specs.groups.fetch_session import CLOSE, NEXT, OPEN, OTHER_EPOCH, OTHER_SESSION

BY_NAME: Final = 12
"""The newest Fetch with topic names."""

_EARLIEST: Final = -2
_CLOSES: Final = "Fetch that closes"


def _begins(_: str) -> Memory:
    return {"session_id": 0, "session_epoch": 1, "start": None}


def _unknown_start(memory: Memory) -> Mapping[str, Any] | None:
    if memory["start"] is not None:
        return None
    partitions = [{"partition_index": 0, "timestamp": _EARLIEST}]
    return {"topics": [{"name": TOPIC, "partitions": partitions}]}


def _started(memory: Memory, answer: Answer, error: str) -> None:
    if error == NONE:
        memory["start"] = answer["topics"][0]["partitions"][0]["offset"]


_START: Final = Input("ListOffsets", keys.LIST_OFFSETS, _unknown_start, _started)
"""Tells where the log starts: the records of other alphabets may be deleted, since they are old."""


def _whole(memory: Memory) -> list[Mapping[str, Any]]:
    partition = {
        "partition": 0,
        "fetch_offset": memory["start"] or 0,
        "partition_max_bytes": 1024,
    }
    return [{"topic": TOPIC, "partitions": [partition]}]


def _no_topics(_: Memory) -> list[Mapping[str, Any]]:
    return []


def _opened(memory: Memory, answer: Answer, error: str) -> None:
    if error == NONE and answer["session_id"]:
        memory.update(session_id=answer["session_id"], session_epoch=1)


def _went_on(memory: Memory, _: Answer, error: str) -> None:
    if error == NONE:
        memory["session_epoch"] += 1


def _session(_: Memory, answer: Answer) -> str:
    return "in a session" if answer["session_id"] else ""


def _fetch(
    name: str, event: str, heard: Any = nothing, *, topics: Any = _no_topics, **changes: Any
) -> Input:
    def fields(memory: Memory) -> Mapping[str, Any]:
        changed = {name: value_of(memory) for name, value_of in changes.items()}
        return {**memory, **changed, "topics": topics(memory)}

    return Input(name, keys.FETCH, fields, heard, event, _session, BY_NAME, sent_before=_START)


def _another(memory: Memory) -> int:
    return int(memory["session_id"]) ^ 1 << 30


def _last(memory: Memory) -> int:
    """Return the epoch before; epoch 0 would open a session."""
    return int(memory["session_epoch"]) - 1 or 1 << 30


SESSION: Final = Alphabet(
    "fetch-session",
    "a consumer's fetch session",
    (keys.FETCH, keys.LIST_OFFSETS),
    _begins,
    (
        _fetch(
            "Fetch without a session",
            "",
            topics=_whole,
            session_id=lambda _: 0,
            session_epoch=lambda _: -1,
        ),
        _fetch("Fetch that opens", OPEN, _opened, topics=_whole, session_epoch=lambda _: 0),
        _fetch("Fetch", NEXT, _went_on),
        _fetch("Fetch of the last epoch", OTHER_EPOCH, session_epoch=_last),
        _fetch(
            "Fetch of a later epoch",
            OTHER_EPOCH,
            session_epoch=lambda memory: memory["session_epoch"] + 2,
        ),
        _fetch("Fetch of another session", OTHER_SESSION, session_id=_another),
        _fetch(_CLOSES, CLOSE, session_epoch=lambda _: -1),
    ),
    FETCH_SESSION,
    closes=_CLOSES,
)
