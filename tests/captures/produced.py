"""Make a capture of one Produce request without a response."""

from __future__ import annotations

from pathlib import Path

from barnabas.captures.writing.writer import CaptureWriter
from tests.captures.traffic import BROKER, CLIENT, NOW


def produced(path: Path, records: bytes) -> Path:
    """Write it, with these bytes as its records, to partition 0 of t; returns the path."""
    body = bytes.fromhex("ffff 00000064 00000001 0001 74 00000001 00000000") + _sized(records)
    request = bytes.fromhex("0000 0002 00000001 0002 6d65") + body
    with CaptureWriter(path, limit=None, meta={}) as writer:
        flow = writer.open(1, CLIENT, BROKER, NOW, {"broker": 1})
        flow.arrived("request", _sized(request), NOW)
        flow.close(NOW + 1)
    return path


def _sized(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data
