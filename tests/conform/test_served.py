"""Offered is served: checks that follow from the declarations."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.conform.broker import Broker
from barnabas.conform.check import Check
from barnabas.conform.drive import drive
from barnabas.conform.operations import Open, Operation, Read, Write
from barnabas.conform.response import Request, read_response
from barnabas.conform.served import SERVED
from barnabas.conform.verdicts import Failed
from barnabas.specs.frames import Frame, encode_frame, request_head
from barnabas.specs.registry import api


class Answers:
    """Answers each request with the defaults of its response, and some bytes more."""

    def __init__(self, more: bytes = b"") -> None:
        self._more = more
        self._response = b""

    def run(self, check: Check) -> None:
        oldest, newest = api(check.each).versions
        for version in range(oldest, newest + 1):
            broker = Broker({check.each: (version, version)}, "served")
            drive(broker.run(check.run), self._perform)

    def _perform(self, operation: Operation[Any]) -> Any:
        match operation:
            case Write(_, data):
                head = request_head(data[4:], 0, len(data) - 4)
                header = {"correlation_id": int.from_bytes(data[8:12], "big")}
                frame = Frame("response", head.key, head.version, header, {})
                self._response = encode_frame(frame)[4:] + self._more
                return None
            case Read():
                return self._response
            case Open():
                return 0
            case _:
                return 0.0


@pytest.mark.parametrize("check", SERVED, ids=lambda check: check.each)
def test_a_response_that_can_be_decoded_passes(check: Check) -> None:
    Answers().run(check)


@pytest.mark.parametrize("check", SERVED, ids=lambda check: check.each)
def test_a_trailing_byte_fails(check: Check) -> None:
    with pytest.raises(Failed, match="1 trailing bytes"):
        Answers(b"\0").run(check)


@pytest.mark.parametrize("tags", [b"", b"\1\0\1\xff", b"\1\1\2\0\1"])
def test_a_wrong_tag_is_listed_and_the_fields_are_read(tags: bytes) -> None:
    body = {"api_keys": [{"api_key": 18, "min_version": 0, "max_version": 4}]}
    frame = bytes(4) + api("ApiVersions").response.codec(4).encode(body)[:-1] + tags
    response = read_response(Request("ApiVersions", 4, 0, b""), frame)
    assert response["api_keys[0].max_version"] == 4
    assert len(response.oddities) == 1
