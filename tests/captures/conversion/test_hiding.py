"""What nobody can read is overwritten, unless the capture is known to be clean."""

from __future__ import annotations

import pytest

from barnabas.captures.conversion.hiding import Hiding
from barnabas.captures.writing.masking import UNSOLICITED, Masking
from tests.captures.traffic import request, response

FOREIGN, CLEAN = Hiding(Masking()), Hiding(Masking(), clean=True)
TOKEN = request(1, 36, 2, auth_bytes=b"hunter2")


def test_a_request_of_no_exchange_says_what_it_is() -> None:
    for hiding in (FOREIGN, CLEAN):
        assert b"hunter2" not in hiding.nobodys(TOKEN, "request").data
        ask = request(1, 12, 0, group_id="g")
        assert hiding.nobodys(ask, "request").data == ask


def test_a_response_that_no_request_explains() -> None:
    answer = response(7, 36, 2, auth_bytes=b"hunter2")
    hidden = FOREIGN.nobodys(answer, "response").data
    assert hidden == answer[:8] + b"*" * (len(answer) - 8)
    assert FOREIGN.frame(answer, "response", UNSOLICITED, -1).data == hidden
    assert CLEAN.nobodys(answer, "response").data == answer


@pytest.mark.parametrize("frame", [b"", b"\0\0\0\2ab", bytes(4), TOKEN[:13]])
def test_what_is_no_frame(frame: bytes) -> None:
    hidden = FOREIGN.nobodys(frame, "request").data
    assert hidden == frame[:8] + b"*" * (len(frame) - 8)
    assert FOREIGN.rest(frame, 4) == frame[:4] + b"*" * (len(frame) - 4)
    assert CLEAN.rest(frame) == frame


def test_comments_do_not_tell_what_payload_was() -> None:
    reason = "records at byte 16: magic 0, 1 or 2, not 78"
    comment = {"frame": 1, "undecodable": reason, "what": [f"skew could not be done: {reason}"]}
    assert Hiding(Masking()).comment(comment) == comment
    assert Hiding(Masking.of_payload()).comment(comment) == {
        "frame": 1,
        "undecodable": "records at byte 16",
        "what": ["skew could not be done: records at byte 16"],
    }
