from __future__ import annotations

import pytest
from pydantic import ValidationError

from barnabas.proxy.effects import Become
from barnabas.proxy.faults.replace import Replace, replace
from barnabas.proxy.matching.message import Unable
from barnabas.specs import api
from tests.proxy.faults.given import Examples, Row, ask, message, slicings, stage
from tests.proxy.playbook import Chunks, response

EXAMPLES = Examples(
    {"hex": "00"},
    rows=[Row("{body: {}}")],
    live=["{body: {}}"],
)


def test_bytes_are_put_in_its_place_as_they_are() -> None:
    config = Replace(hex="00 ff\n01")
    assert replace(config, message(), float) == (Become(b"\0\xff\1", "replace with 3 bytes"),)


def test_fields_are_encoded_in_its_version_and_missing_ones_take_their_defaults() -> None:
    config = Replace.model_validate({"body": {"group_id": "h"}})
    (effect,) = replace(config, message(group_id="g", member_id="m"), float)
    assert isinstance(effect, Become)
    found = api("Heartbeat").request.codec(0).decode(effect.body)
    assert found == {"group_id": "h", "generation_id": 0, "member_id": ""}


@pytest.mark.parametrize("body", [{"group_id": 1}, {"grup_id": "x"}, {"generation_id": 2**40}])
def test_fields_that_do_not_fit_leave_it_as_it_is(body: dict[str, object]) -> None:
    with pytest.raises(Unable):
        replace(Replace(body=body), message(group_id="g"), float)


@pytest.mark.parametrize("hex", ["0", "0g", "é", "0x00"])
def test_what_is_no_bytes_is_refused(hex: str) -> None:
    with pytest.raises(ValidationError, match="hex: bytes are two hexadecimal digits each"):
        Replace(hex=hex)


@pytest.mark.parametrize("settings", [{}, {"hex": "00", "body": {}}])
def test_one_of_both_is_given(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="give one of body and hex"):
        Replace.model_validate(settings)


@slicings
def test_the_client_gets_it_with_the_header_that_it_waits_for(chunks: Chunks) -> None:
    actor = stage("{replace: {body: {error_code: 27}}}", "{direction: response}")
    actor.ask(ask(7), chunks)
    actor.answer(response("Heartbeat", 7), chunks)
    assert actor.frames("response") == [response("Heartbeat", 7, error_code=27)]
