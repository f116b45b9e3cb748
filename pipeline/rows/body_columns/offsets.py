"""ListOffsets, OffsetCommit, TxnOffsetCommit, OffsetFetch: offsets by partition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from barnabas.pipeline.rows.body_columns.topics import (
    Body,
    Names,
    about,
    answers,
    listed,
    name_of,
    said,
)


def list_offsets(request: Body, response: Body, names: Names) -> Body:
    """ListOffsets: the offset answered; of v0, which may answer several, the first."""
    partitions = []
    for name, asked, answer in _pairs(request, response, names):
        old = answer.get("old_style_offsets")
        offset = answer.get("offset") if old is None else next(iter(old), None)
        error = answer.get("error_code")
        partitions.append(about(name, asked["partition_index"], error_code=error, offset=offset))
    return {"partitions": partitions}


def offset_commit(request: Body, response: Body, names: Names) -> Body:
    """OffsetCommit, TxnOffsetCommit: the offsets committed, by whom."""
    return {
        "partitions": [
            about(
                name,
                asked["partition_index"],
                error_code=answer.get("error_code"),
                offset=asked["committed_offset"],
            )
            for name, asked, answer in _pairs(request, response, names)
        ],
        "member": request.get("member_id"),
        "generation": request.get("generation_id_or_member_epoch"),
        "producer_id": request.get("producer_id"),
        "producer_epoch": request.get("producer_epoch"),
    }


def _pairs(request: Body, response: Body, names: Names) -> Iterator[tuple[str, Body, Body]]:
    """Topic, partition of the request, and what the response says of it ({}: nothing)."""
    answered = answers(response.get("topics"), "partitions", "partition_index")
    for topic in request.get("topics") or ():
        called = said(topic)
        name = name_of(called, names)
        for partition in topic["partitions"]:
            yield name, partition, answered.get((called, partition["partition_index"]), {})


def offset_fetch(request: Body, response: Body, names: Names) -> Body:
    """OffsetFetch: the committed offsets, -1 where none is stored; without a response, what was asked."""
    groups = response.get("groups") if "groups" in response else [response]
    if response:
        partitions = [one for group in groups or () for one in _stored(group.get("topics"), names)]
    else:
        asked: Iterable[Body] = request.get("groups", [request])
        partitions = [
            one
            for group in asked
            for one in listed(group.get("topics"), "partition_indexes", names)
        ]
    found: Body = {"partitions": partitions}
    if len(request.get("groups") or ()) == 1:
        found["member"] = request["groups"][0].get("member_id")
        found["generation"] = request["groups"][0].get("member_epoch")
    return found


def _stored(topics: Iterable[Body] | None, names: Names) -> Iterator[Body]:
    for topic in topics or ():
        name = name_of(said(topic), names)
        for partition in topic["partitions"]:
            yield about(
                name,
                partition["partition_index"],
                error_code=partition["error_code"],
                offset=partition["committed_offset"],
            )
