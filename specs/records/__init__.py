"""Record sets of magic 0, 1 and 2: `read` yields batches, `build` makes a batch, `summary` counts."""

from barnabas.specs.records.batch import Batch
from barnabas.specs.records.batch_builder import build, rebuild, with_crc
from barnabas.specs.records.compression import CODECS, MAX_OUTPUT, compress, decompress, raw_snappy
from barnabas.specs.records.control import (
    control_key,
    control_type,
    marker_value,
)
from barnabas.specs.records.record import Record
from barnabas.specs.records.record_set import Summary, is_lone_batch, read, summary

__all__ = [
    "CODECS",
    "MAX_OUTPUT",
    "Batch",
    "Record",
    "Summary",
    "build",
    "compress",
    "control_key",
    "control_type",
    "decompress",
    "is_lone_batch",
    "marker_value",
    "raw_snappy",
    "read",
    "rebuild",
    "summary",
    "with_crc",
]
