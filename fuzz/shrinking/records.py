"""Fewer batches and records, and less in them, with correct checksums, sizes, counts and offsets.

The remaining records are renumbered without gaps, as brokers want it of producers. A record set that can't be
read as a whole is left unchanged.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from barnabas.fuzz.cases.case import Change, Recipe
from barnabas.fuzz.shrinking.edits import Path, moved, needed_by, opened, portions, rewritten
from barnabas.fuzz.shrinking.fields import halved
from barnabas.specs import Malformed, Unfit
from barnabas.specs.records import Batch, Record, read, rebuild

_Less = Callable[[Record], Record]


class _Cut(NamedTuple):
    """A removal from the record set at `path`.

    A batch (`record` is None), a record, or (`less`) part of a record is removed.
    """

    path: Path
    batch: int
    record: int | None = None
    less: _Less | None = None


def less_in_records(recipe: Recipe) -> Iterator[Recipe]:
    """Drop batches, records and headers, and make keys and values smaller."""
    frame = opened(recipe.seed)
    if frame is None:
        return
    sets = {path: batches for path, data in _sets(frame.body) if (batches := _read(data))}
    needed = needed_by(recipe.changes)
    for cuts in _passes(sets, needed):
        for some in portions(cuts):
            body = copy.deepcopy(frame.body)
            changes = recipe.changes
            try:
                for path, batches in sets.items():
                    mine = [cut for cut in some if cut.path == path]
                    if mine:
                        data, changes = _cut(batches, mine, changes)
                        _put(body, path, data)
            except Unfit:
                continue
            smaller = rewritten(recipe, frame, body, changes)
            if smaller is not None:
                yield smaller


_Sets = dict[Path, list[tuple[Batch, tuple[Record, ...]]]]


def _sets(value: Any, path: Path = ()) -> Iterator[tuple[Path, bytes]]:
    """Yield the record sets of a body, at any depth."""
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _sets(inner, (*path, index))
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name == "records" and isinstance(inner, bytes):
                yield (*path, name), inner
            else:
                yield from _sets(inner, (*path, name))


def _read(data: bytes) -> list[tuple[Batch, tuple[Record, ...]]]:
    try:
        batches = [(batch, batch.records()) for batch in read(data)]
    except Malformed:
        return []
    return batches if sum(batch.size for batch, _ in batches) == len(data) else []


def _passes(sets: _Sets, needed: set[Path]) -> Iterator[list[_Cut]]:
    """Yield what may be removed, the largest savings first."""
    batches = [
        (path, number, batch.magic, records)
        for path, set_batches in sets.items()
        for number, (batch, records) in enumerate(set_batches)
    ]
    yield [_Cut(path, number) for path, number, *_ in batches if (*path, number) not in needed]
    places = [
        # a message of magic 0 and 1 is a batch of its own
        (path, number, index, (*path, number, *(("records", index) if magic > 1 else ())), record)
        for path, number, magic, records in batches
        for index, record in enumerate(records)
    ]
    yield [
        _Cut(path, number, index)
        for path, number, index, record_path, _ in places
        if record_path not in needed
    ]
    for fields, less in LESS:
        yield [
            _Cut(path, number, index, less)
            for path, number, index, record_path, record in places
            if less(record) != record and not any((*record_path, name) in needed for name in fields)
        ]


def _cut(
    batches: Sequence[tuple[Batch, tuple[Record, ...]]],
    cuts: Sequence[_Cut],
    changes: tuple[Change, ...],
) -> tuple[bytes, tuple[Change, ...]]:
    """Return the record set without the cuts, and the changes with their new paths. Raises Unfit."""
    path = cuts[0].path
    parts = []
    for number in reversed(range(len(batches))):
        mine = [cut for cut in cuts if cut.batch == number]
        if any(cut.record is None for cut in mine):
            changes = tuple(moved(change, (*path, number)) for change in changes)
            continue
        batch, records = batches[number]
        remaining = list(records)
        for cut in sorted(mine, key=lambda each: each.record or 0, reverse=True):
            assert cut.record is not None  # noqa: S101
            if cut.less is not None:
                remaining[cut.record] = cut.less(remaining[cut.record])
            else:
                del remaining[cut.record]
                record_path = (*path, number, "records", cut.record)
                changes = tuple(moved(change, record_path) for change in changes)
        parts.append(_built(batch, remaining) if mine else bytes(batch.data))
    return b"".join(reversed(parts)), changes


def _built(batch: Batch, records: Sequence[Record]) -> bytes:
    if not records:
        raise Unfit("records", "a batch without records is dropped as a whole")
    base = batch.base_offset if batch.base_offset is not None else records[0].offset
    renumbered = [record._replace(offset=base + index) for index, record in enumerate(records)]
    return rebuild(replace(batch, last_offset=renumbered[-1].offset), renumbered)


def _put(body: Any, path: Path, data: bytes) -> None:
    for step in path[:-1]:
        body = body[step]
    body[path[-1]] = data


def _halves(record: Record) -> Record:
    return record._replace(key=halved(record.key), value=halved(record.value))


LESS: Final[tuple[tuple[tuple[str, ...], _Less], ...]] = (
    (("headers",), lambda record: record._replace(headers=())),
    (("key",), lambda record: record._replace(key=None)),
    (("value",), lambda record: record._replace(value=None)),
    (("key",), lambda record: record._replace(key=record.key and b"")),
    (("value",), lambda record: record._replace(value=record.value and b"")),
    (("key", "value"), _halves),
)
"""(the fields of a record that are reduced, the reduction)."""
