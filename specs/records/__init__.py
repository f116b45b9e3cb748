"""Record sets of magic 0, 1 and 2: `read` walks the batches, `build` makes one, `summary` counts."""

from specs.records.batch import Batch
from specs.records.building import build, rebuild, with_crc
from specs.records.compression import CODECS, MAX_OUTPUT, decompress
from specs.records.compressors import compress, raw_snappy
from specs.records.control import control_key, control_type, coordinator_epoch, marker_value
from specs.records.record import Record
from specs.records.record_set import Summary, read, summary

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
    "coordinator_epoch",
    "decompress",
    "marker_value",
    "raw_snappy",
    "read",
    "rebuild",
    "summary",
    "with_crc",
]
