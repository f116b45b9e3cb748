"""The frames of a case as a capture: a pcapng file that Wireshark and `barnabas decode` open.

An observation has bytes and no packets: the addresses are invented, and so are the times between packets.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

from barnabas.captures.host_port import Endpoint
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.fuzz.cases.observation import Observation

CLIENT: Final[Endpoint] = ("127.0.0.1", 40000)
BROKER: Final[Endpoint] = ("127.0.0.1", 9092)

STEP: Final = 1_000_000
"""Nanoseconds between two packets."""


def capture(observation: Observation) -> bytes:
    """Return the bytes of a capture: what was sent, and the responses with their sizes."""
    replies = [len(reply).to_bytes(4, "big") + reply for reply in observation.replies]
    chunks = observation.sent or observation.case.chunks
    # a client's replies are its requests, and the case is the response
    client = observation.case.recipe.seed.direction == "response"
    first, second = (replies, chunks) if client else (chunks, replies)
    with tempfile.TemporaryDirectory(prefix="barnabas-finding-") as folder:
        path = Path(folder) / "finding.pcapng"
        meta = {"fuzz": {"case": observation.case.number}}
        with CaptureWriter(path, limit=None, meta=meta) as writer:
            flow = writer.open(0, CLIENT, BROKER, 0, {})
            now = 0
            for data in first:
                flow.arrived("request", data, now := now + STEP)
            for data in second:
                flow.arrived("response", data, now := now + STEP)
        return path.read_bytes()
