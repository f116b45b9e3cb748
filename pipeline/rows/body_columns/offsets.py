"""Columns of ListOffsets, OffsetCommit, TxnOffsetCommit, OffsetFetch: offsets by partition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from barnabas.pipeline.rows.body_columns.topics import (
    Body,
    Names,
    name_of,
    partition_row,
    partition_rows,
    partitions_of_response,
    topic_key,
)


def list_offsets(request: Body, response: Body, names: Names) -> Body:
    """Return the columns of ListOffsets: the offset in the response; in v0 the first of several."""
    partitions = []
    for name, requested, responded in _pairs(request, response, names):
        old = responded.get("old_style_offsets")
        offset = responded.get("offset") if old is None else next(iter(old), None)
        error = responded.get("error_code")
        partitions.append(
            partition_row(name, requested["partition_index"], error_code=error, offset=offset)
        )
    return {"partitions": partitions}


def offset_commit(request: Body, response: Body, names: Names) -> Body:
    """Return the columns of OffsetCommit and TxnOffsetCommit: the committed offsets, and the member."""
    return {
        "partitions": [
            partition_row(
                name,
                requested["partition_index"],
                error_code=responded.get("error_code"),
                offset=requested["committed_offset"],
            )
            for name, requested, responded in _pairs(request, response, names)
        ],
        "member": request.get("member_id"),
        "generation": request.get("generation_id_or_member_epoch"),
        "producer_id": request.get("producer_id"),
        "producer_epoch": request.get("producer_epoch"),
    }


def _pairs(request: Body, response: Body, names: Names) -> Iterator[tuple[str, Body, Body]]:
    """Yield topic, partition of the request, and the response's values for it ({} if it has none)."""
    by_partition = partitions_of_response(response.get("topics"), "partitions", "partition_index")
    for topic in request.get("topics") or ():
        key = topic_key(topic)
        name = name_of(key, names)
        for partition in topic["partitions"]:
            yield name, partition, by_partition.get((key, partition["partition_index"]), {})


def offset_fetch(request: Body, response: Body, names: Names) -> Body:
    """Return the columns of OffsetFetch: the committed offsets, -1 without one.

    Without a response, they are the requested partitions.
    """
    groups = response.get("groups") if "groups" in response else [response]
    if response:
        partitions = [row for group in groups or () for row in _stored(group.get("topics"), names)]
    else:
        requested_groups: Iterable[Body] = request.get("groups", [request])
        partitions = [
            row
            for group in requested_groups
            for row in partition_rows(group.get("topics"), "partition_indexes", names)
        ]
    columns: Body = {"partitions": partitions}
    if len(request.get("groups") or ()) == 1:
        columns["member"] = request["groups"][0].get("member_id")
        columns["generation"] = request["groups"][0].get("member_epoch")
    return columns


def _stored(topics: Iterable[Body] | None, names: Names) -> Iterator[Body]:
    for topic in topics or ():
        name = name_of(topic_key(topic), names)
        for partition in topic["partitions"]:
            yield partition_row(
                name,
                partition["partition_index"],
                error_code=partition["error_code"],
                offset=partition["committed_offset"],
            )
