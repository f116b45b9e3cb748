"""A capture that has only the beginning of each packet."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from barnabas.captures.kafka.notes import partial_of
from barnabas.captures.reader import CaptureReader
from tests.captures.traffic import carriers, exchanges, ip_packet, segments, talk, write_pcap


@pytest.mark.parametrize("snap", [54, 70, 100, 200])
def test_a_snap_length_loses_only_what_it_cut(tmp_path: Path, snap: int) -> None:
    said = talk(rounds=6)
    whole = segments(said, itertools.repeat(150))
    path = write_pcap(tmp_path / "f", [ip_packet(segment)[:snap] for segment in whole])
    reader = CaptureReader(path)
    list(reader)
    fits = [len(ip_packet(segment)) <= snap for segment in whole]
    assert reader.packets.cut == fits.count(False)
    found = [one for one in exchanges(path) if partial_of(one.note) != "request"]
    seen = {(one.correlation_id, one.response_body is not None) for one in found}
    intact = [all(fits[at] for at in places) for places in carriers(said, whole)]
    assert answered(intact) <= seen <= answered([True] * len(said)) | answered(intact)


def answered(intact: list[bool]) -> set[tuple[int, bool]]:
    """(correlation id, whether its response is there) of the exchanges whose frames are intact."""
    there: dict[int, bool] = {}
    for (direction, data), whole in zip(talk(rounds=6), intact, strict=True):
        number = int.from_bytes(data[8:12] if direction == "request" else data[4:8])
        if direction == "request" and whole:
            there[number] = False
        elif number in there and whole:
            there[number] = True
    return set(there.items())
