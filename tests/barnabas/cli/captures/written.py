"""Captures with findings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from barnabas.captures.writing.writer import CaptureWriter
from tests.captures.kafka.pairing.test_conversation import request, response
from tests.proxy.playbook import MS, START


def write(path: Path, pairs: int, *, note: bool = False, rules: Sequence[str] = ()) -> Path:
    """So many times two requests of one correlation id; or a commit that comes too late. rules: of the
    proxy, that fired on the first request."""
    with CaptureWriter(path, limit=None, meta={}) as capture:
        flow = capture.open(1, ("10.0.0.1", 5000), ("10.0.0.2", 9092), START, {})
        now = START
        fired = {"frame": 0, "rules": list(rules)}
        for number in range(pairs):
            asked, answer = request(number, topics=[]), response(number)
            cuts: list[tuple[int, Any]] = [(len(asked), fired)] if rules and not number else []
            flow.arrived("request", asked, now + MS, cuts)
            flow.arrived("request", asked, now + 2 * MS)
            flow.arrived("response", answer, now + 3 * MS)
            now += 4 * MS
            flow.arrived("response", answer, now)
        if note:
            member = {"group_id": "g\x1b", "generation_id_or_member_epoch": 1, "member_id": "m"}
            place = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
            partition = {"partition_index": 0, "error_code": 27}
            topics = [{"name": "t", "partitions": [place]}]
            flow.arrived("request", request(0, 8, 5, **member, topics=topics), now + MS)
            answered = [{"name": "t", "partitions": [partition]}]
            flow.arrived("response", response(0, 8, 5, topics=answered), now + 2 * MS)
        flow.close(now + 3 * MS)
    return path
