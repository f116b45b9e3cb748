from __future__ import annotations

from typing import Any

import pytest

from barnabas.proxy.matching.message import Message, Unable
from barnabas.specs import api
from barnabas.specs.codec import Codec
from barnabas.specs.frames import Direction
from tests.bodies import reassignments


def message(direction: Direction, key: int, version: int, body: bytes | None) -> Message:
    return Message(direction, key, version, "app", 1, 0, 0, None, 100, body)


def test_fields_are_the_json_form() -> None:
    body = api("JoinGroup").request.codec(5).encode(
        {"group_id": "g", "protocols": [{"name": "range", "metadata": b"abc"}]}
    )  # fmt: skip
    fields = message("request", 11, 5, body).fields()
    assert fields is not None
    assert fields["group_id"] == "g"
    assert fields["protocols"] == [{"name": "range", "metadata": "YWJj"}]


@pytest.mark.parametrize(
    ("key", "version", "body"),
    [(11, 5, None), (11, 5, b"\xff"), (11, 99, b""), (999, 0, b""), (11, -1, b"")],
)
def test_what_cannot_be_read_has_no_fields(key: int, version: int, body: bytes | None) -> None:
    assert message("request", key, version, body).fields() is None


def test_bodies_are_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[bytes] = []
    decode = Codec.decode

    def counting(self: Codec, body: bytes) -> dict[str, Any]:
        decoded.append(body)
        return decode(self, body)

    monkeypatch.setattr(Codec, "decode", counting)
    for body in (b"\x00\x01g\x00\x00\x00\x01\x00\x00", b"\xff"):
        one = message("request", 12, 0, body)
        assert one.fields() == one.fields()
        assert decoded == [body]
        decoded.clear()


def test_a_refused_api_versions_has_the_layout_of_v0() -> None:
    refused = {"error_code": 35, "api_keys": [{"api_key": 18, "min_version": 0, "max_version": 4}]}
    body = api("ApiVersions").response.codec(0).encode(refused)
    fields = message("response", 18, 4, body).fields()
    assert fields is not None
    assert fields["error_code"] == 35


def test_a_body_that_is_too_large_says_so_and_cannot_be_changed() -> None:
    one = message("request", 45, 0, reassignments())
    assert one.fields("topics") is None
    assert one.too_large.startswith("too large to decode")
    assert one.fields("timeout_ms") == {"timeout_ms": 0}
    with pytest.raises(Unable, match="too large to decode"):
        one.values()


def test_what_was_decoded_is_let_go() -> None:
    one = message("request", 45, 0, reassignments(10))
    first = one.fields()
    one.forget()
    assert one.fields() == first
    assert one.fields() is not first
