"""A response that may not pass: the capture has that it was withheld, and shows no secret of it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from barnabas.captures.kafka import notes
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import STRAY, UNREADABLE
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk
from barnabas.captures.writing.masking import Masking
from barnabas.proxy.connection.requests import ADDRESSES
from tests.proxy.frames import Chunks, heartbeat_request, heartbeat_response, raw, request, response
from tests.proxy.playbook import Stage
from tests.proxy.recorded import Recorded
from tests.proxy.test_masked_capture import CHUNKS, PASSWORD, shown

NODE = {"node_id": 1, "host": "real", "port": 9092}
METADATA = response("Metadata", 2, version=9, brokers=[NODE])

WITHHELD: dict[str, tuple[bytes, bytes]] = {
    "of a version to come": (
        raw(struct.pack(">hhih", 3, 99, 2, -1) + b"\0\1"),
        raw(struct.pack(">i", 2) + b"\0" + PASSWORD),
    ),
    "that nobody asked for": (heartbeat_request(2), raw(struct.pack(">i", 7) + PASSWORD)),
    "to a header that can't be read": (
        raw(struct.pack(">hhih", 3, 9, 2, -1) + b"\xff\xff\xff\xff\x0f" + bytes(20)),
        METADATA,
    ),
    "whose addresses can't be found": (
        request("Metadata", 2, version=9),
        raw(METADATA[4:9] + b"\xff" * 30),
    ),
}
"""A request, and a response that may not pass."""


@CHUNKS
@pytest.mark.parametrize("behind", [True, False], ids=["another behind it", ""])
@pytest.mark.parametrize("case", WITHHELD)
def test_a_response_that_is_withheld_is_recorded_as_such(
    tmp_path: Path, case: str, behind: bool, chunks: Chunks
) -> None:
    actor = Recorded(Stage(), tmp_path / "run.pcapng", Masking())
    asked, withheld = WITHHELD[case]
    named = request("Metadata", 1, version=9), response("Metadata", 1, version=9, brokers=[NODE])
    last = heartbeat_request(3), heartbeat_response(3)
    actor.ask(named[0] + asked + last[0], chunks)
    actor.answer(named[1] + withheld + last[1] * behind, chunks)
    assert actor.aborted
    assert actor.ids("response") == [1]
    assert (actor.stage.totals.withheld, len(actor.said)) == (1, actor.stage.totals.undecoded + 1)
    actor.finish()
    shown_of_it = actor.arrived("response")[len(named[1]) :][: len(withheld)]
    if case == "to a header that can't be read":  # nor is there one in the answer, for all we know
        assert shown_of_it == withheld[:4] + b"*" * (len(withheld) - 4)
    elif case == "that nobody asked for":
        assert shown_of_it == withheld[:8] + b"*" * (len(withheld) - 8)
    else:
        assert shown_of_it == withheld
    packet = next(
        event
        for event in CaptureReader(actor.path)
        if isinstance(event, Chunk) and any("withheld" in one for one in event.comments)
    )
    assert packet.data.endswith(shown_of_it[-1:])
    assert packet.comments[-1]["frame"] == 1
    assert packet.comments[-1]["left"] == "never"
    assert "can't be replaced" in packet.comments[-1]["withheld"]
    conversations = Conversations(strays=True)
    decoded = list(conversations.exchanges(CaptureReader(actor.path)))
    strays = [one for one in decoded if one.key == STRAY]
    told, answers = (
        sorted((one for one in found if one.key != STRAY), key=lambda one: one.correlation_id)
        for found in (actor.done, decoded)
    )
    for one in (*answers, *told):
        if one.key == UNREADABLE:
            one.client_id = None  # the log has that of the requests before
            one.note = one.note.removeprefix(f"{ADDRESSES}; ")  # a capture has it as undecodable
    assert shown(answers) == shown(told)
    assert (conversations.skipped, conversations.losses) == (0, 0)
    (note,) = (one.note for one in decoded if "withheld" in one.note)
    assert note == notes.WITHHELD
    assert [(one.correlation_id, one.answered) for one in strays] == [(7, None)] * (
        case == "that nobody asked for"
    )
