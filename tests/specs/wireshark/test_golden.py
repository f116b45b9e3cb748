"""Every frame of Apache Kafka's own classes, of all APIs in all versions: tshark shows each field of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from barnabas import specs
from barnabas.specs.embedded import BYTES_FIELDS
from barnabas.specs.frames import Frame, encode_frame
from barnabas.specs.registry import REGISTRY
from tests.captures.traffic import Said
from tests.golden.frames import Line, golden_frames, golden_values
from tests.specs.wireshark.dissected import alike, capture_of, dissected, expected

pytestmark = pytest.mark.needs_tshark

HIDING = {place.message for place in BYTES_FIELDS}
"""Messages in which random bytes may not be what they should."""

MODULES = {key: module for key, _, module in REGISTRY}


def said(golden: list[Line]) -> list[Said]:
    """The frames as one conversation: a response has a request in front, of defaults, that it answers."""
    found: list[Said] = []
    for number, frame in enumerate(golden):
        head = {"correlation_id": number}
        asked = Frame("request", frame["key"], frame["version"], head, {})
        if frame["direction"] == "response":
            found.append(("request", encode_frame(asked)))
        whole = replace(asked, direction=frame["direction"], body=golden_values(frame))
        found.append((frame["direction"], encode_frame(whole)))
    return found


def test_tshark_shows_every_field_of_every_version(tmp_path: Path) -> None:
    golden = golden_frames()
    shown = dissected(capture_of(tmp_path / "golden.pcap", said(golden)), "-2")
    at = iter(shown)
    wrong = []
    for number, frame in enumerate(golden):
        if frame["direction"] == "response":
            next(at)  # the request that it answers
        found = next(at)
        message = specs.api(frame["key"]).message(frame["direction"])
        layout = message.layout(frame["version"])
        prefix = f"{MODULES[frame['key']]}_{frame['direction']}"
        where = f"{frame['api']} v{frame['version']} {frame['direction']}"
        assert found.title == f"Kafka {frame['direction']}: {where}, correlation id {number}"
        differences = alike(found.body(prefix), expected(layout, golden_values(frame), prefix))
        if message.name not in HIDING:
            differences += found.problems
        wrong += [f"{where} {frame['case']}: {each}" for each in differences[:3]]
    assert not wrong, "\n".join(wrong)
    assert next(at, None) is None
