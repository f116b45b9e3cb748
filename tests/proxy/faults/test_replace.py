from __future__ import annotations

import pytest

from barnabas.proxy.effects import Become
from tests.proxy.faults.given import (
    Examples,
    Row,
    effect_of,
    fields_after,
    message,
    requests,
    stage,
)
from tests.proxy.frames import Chunks, heartbeat_response, raw, response, slicings

NAMED = message(group_id="g", member_id="m")
BAD_HEX, GIVE_ONE = "hex: bytes are two hexadecimal digits each", "give one of body and hex"

EXAMPLES = Examples(
    {"hex": "00"},
    rows=[Row("{body: {}}")],
    live=["{body: {}}"],
    refused=[
        *(({"hex": text}, BAD_HEX) for text in ("0", "0g", "é", "0x00")),
        ("{}", GIVE_ONE),
        ({"hex": "00", "body": {}}, GIVE_ONE),
        ({"body": {"nothing": 1}}, "nothing: no such field"),
    ],
    unable=[
        ({"body": {"group_id": 1}}, NAMED, "group_id: a string is expected, not 1"),
        ({"body": {"grup_id": "x"}}, NAMED, "grup_id: no such field in this version"),
        ({"body": {"generation_id": 2**40}}, NAMED, "is not a valid int32"),
    ],
    says=[
        ({"hex": "00"}, "field_values", ()),
        ({"body": {"a": 1}}, "field_values", ((("body",), "", {"a": 1}, False),)),
    ],
)


@pytest.mark.parametrize(
    ("hex", "body", "what"), [("00 ff\n01", b"\0\xff\1", "3 bytes"), ("07", b"\7", "1 byte")]
)
def test_bytes_are_put_in_its_place_as_they_are(hex: str, body: bytes, what: str) -> None:
    assert effect_of("replace", {"hex": hex}) == Become(body, f"replace with {what}")


def test_fields_are_encoded_in_its_version_and_missing_ones_take_their_defaults() -> None:
    found = fields_after("replace", {"body": {"group_id": "h"}}, NAMED)
    assert found == {"group_id": "h", "generation_id": 0, "member_id": ""}


@slicings
@pytest.mark.parametrize(
    ("settings", "expected"),
    [("body: {error_code: 27}", heartbeat_response(7, 27)), ("hex: 'ff'", raw(b"\0\0\0\x07\xff"))],
)
def test_the_client_gets_it_with_the_header_that_it_waits_for(
    chunks: Chunks, settings: str, expected: bytes
) -> None:
    actor = stage(f"{{replace: {{{settings}}}}}", "{direction: response}")
    actor.ask(requests(7), chunks)
    actor.answer(response("Heartbeat", 7), chunks)
    assert actor.frames("response") == [expected]
