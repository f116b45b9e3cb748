"""Reads what flows said beside their exchanges out of the files that tasks have written."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow.dataset as ds

from barnabas.pipeline.reading.outcomes import Outcome, Place
from barnabas.pipeline.tables.parquet import Filed

_NAMES: Final = ("topic", "producer", "broker")
"""What many flows say alike."""


def said(filed: Sequence[Filed]) -> Iterator[Outcome]:
    """What flows have said beside their exchanges.

    Read here, and not by Spark: it is little, and jobs take longer to begin than this to be read.
    """
    wanted = ds.field("kind").isin(["connection", "flow", "loss", *_NAMES])
    columns = ["kind", "section_group", "of", *Place._fields, "said"]
    names = set()
    for part in _dataset(filed).to_batches(columns=columns, filter=wanted):
        for row in part.to_pylist():
            kind, text = row["kind"], row["said"]
            if kind in _NAMES:
                if (kind, text) in names:
                    continue
                names.add((kind, text))
            values = json.loads(text) if kind in _NAMES else {}
            place = Place(row["at"], row["flow"], row["within"])
            yield Outcome(kind, row["section_group"], row["of"], place, values)


def counts(filed: Sequence[Filed]) -> dict[str, int]:
    """How many rows there are of each kind."""
    found: Counter[str] = Counter()
    for part in _dataset(filed).to_batches(columns=["kind"]):
        for one in part["kind"].value_counts().to_pylist():
            found[one["values"]] += one["counts"]
    return found


def _dataset(filed: Sequence[Filed]) -> ds.Dataset:
    return ds.dataset([one.path for one in filed])
