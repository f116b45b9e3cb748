"""Completes exchanges with what only all flows together say: connection numbers, names, brokers, losses."""

from __future__ import annotations

import bisect
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from barnabas.pipeline.reading.facts import Facts
from barnabas.pipeline.reading.outcomes import Place
from barnabas.pipeline.rows.columns import Column, arrow
from barnabas.specs.jsonform import uuid_text


class Completion:
    """Completes batches of exchanges of one capture. Columns that are not there are not needed."""

    def __init__(self, facts: Facts, capture: str) -> None:
        self._facts = facts
        self._capture = capture
        self._names = {uuid_text(topic): name for topic, name in facts.topics.items()}

    def complete(self, batch: pa.RecordBatch, columns: tuple[Column, ...]) -> pa.RecordBatch:
        """Rows with the columns of outcomes.py as rows with just these columns."""
        schema = arrow(columns)
        arrays = [self._column(batch, field) for field in schema]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _column(self, batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
        match field.name:
            case "capture":
                return pa.array([self._capture] * len(batch), field.type)
            case "connection":
                numbers = self._facts.connections
                section_groups, ofs = (batch[name].to_pylist() for name in ("section_group", "of"))
                found = [numbers[key] for key in zip(section_groups, ofs, strict=True)]
                return pa.array(found, field.type)
            case "losses":
                return pa.array(self._losses(batch), field.type)
        column = batch[field.name]
        match field.name:
            case "broker":
                return self._brokers(batch, column)
            case "topics":
                return self._topics(column)
            case "partitions":
                return self._partitions(column)
            case "seen":
                return self._seen(column)
            case "transactional_id":
                return self._transactions(batch, column)
        return column

    def _losses(self, batch: pa.RecordBatch) -> list[int]:
        losses = self._facts.losses
        if not losses:
            return [0] * len(batch)
        places = zip(*(batch[name].to_pylist() for name in Place._fields), strict=True)
        return [bisect.bisect_left(losses, place) for place in places]

    def _brokers(self, batch: pa.RecordBatch, column: pa.Array) -> pa.Array:
        known = self._facts.brokers
        named, servers = batch["named_broker"], batch["server_address"]
        found = pa.array([known.get(one) for one in servers.to_pylist()], column.type)
        return pc.coalesce(named, found)

    def _topics(self, column: pa.Array) -> pa.Array:
        names = self._names
        if not names or not _any(column.flatten(), names):
            return column
        found: list[Any] = [
            None if topics is None else sorted({names.get(topic, topic) for topic in topics})
            for topics in column.to_pylist()
        ]
        return pa.array(found, column.type)

    def _partitions(self, column: pa.Array) -> pa.Array:
        names = self._names
        flat = column.flatten()
        topics = flat.field("topic")
        if not names or not _any(topics, names):
            return column
        coded = topics.dictionary_encode()
        renamed = pa.array([names.get(one, one) for one in coded.dictionary.to_pylist()])
        fields = [flat.field(at) for at in range(flat.type.num_fields)]
        fields[flat.type.get_field_index("topic")] = renamed.take(coded.indices)
        inner = pa.StructArray.from_arrays(fields, fields=list(flat.type))
        sizes = pc.fill_null(pc.list_value_length(column), 0)
        offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(sizes)])
        return pa.ListArray.from_arrays(offsets, inner, column.type, mask=column.is_null())

    def _seen(self, column: pa.Array) -> pa.Array:
        if not self._names:
            return column
        fields = [column.field(at) for at in range(column.type.num_fields)]
        at = column.type.get_field_index("places")
        fields[at] = self._partitions(fields[at])
        return pa.StructArray.from_arrays(fields, fields=list(column.type), mask=column.is_null())

    def _transactions(self, batch: pa.RecordBatch, column: pa.Array) -> pa.Array:
        known = self._facts.producers
        if not known:
            return column
        producers = batch["producer_id"].to_pylist()
        found = pa.array([known.get(one) for one in producers], column.type)
        return pc.coalesce(column, found)


def _any(texts: pa.Array, names: dict[str, str]) -> bool:
    """Whether there is an id among them whose name is known."""
    return not names.keys().isdisjoint(pc.unique(texts).to_pylist())
