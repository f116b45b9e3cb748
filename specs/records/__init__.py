"""Reading record sets of magic 0, 1 and 2: `read` walks the batches, `summary` counts them."""

from specs.records.batch import Batch
from specs.records.compression import CODECS, MAX_OUTPUT, decompress
from specs.records.control import control_type, coordinator_epoch
from specs.records.record import Record
from specs.records.record_set import Summary, read, summary

__all__ = [
    "CODECS",
    "MAX_OUTPUT",
    "Batch",
    "Record",
    "Summary",
    "control_type",
    "coordinator_epoch",
    "decompress",
    "read",
    "summary",
]
