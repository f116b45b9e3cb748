"""An error code that is looked at by its place, in scripts that read no schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.oracles.server_error import SERVER_ERROR
from barnabas.fuzz.report.error_place import server_error
from barnabas.fuzz.report.script import script
from barnabas.fuzz.targets.recording import Recorded
from barnabas.specs.keys import HEARTBEAT, METADATA
from tests.fuzz.mortal import Mortal
from tests.fuzz.observed import observed, request, response
from tests.fuzz.report.test_script import told


def _metadata(code: int, name: str = "t") -> bytes:
    topic = {"error_code": code, "name": name, "is_internal": False, "partitions": []}
    return response(METADATA, 1, {"brokers": [], "controller_id": -1, "topics": [topic]})


ASKED = request(METADATA, 1, {"topics": [{"name": "t"}]})
SEEN = observed(ASKED, replies=(_metadata(-1),))


def _path(seen: Observation) -> str:
    (verdict,) = SERVER_ERROR.judge(seen)
    return verdict.behaviour[1]


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (_metadata(-1), 1, "shown"),
        (_metadata(3), 0, "not shown"),
        (_metadata(-1, "longer"), 3, "can't tell: at the top stands what shows it"),
    ],
)
def test_an_answer_of_the_size_that_was_seen_shows_it(
    answer: bytes, code: int, said: str, tmp_path: Path
) -> None:
    shown = server_error(SEEN, _path(SEEN))
    assert shown is not None
    text = script("it", SEEN.case, Recorded((), SEEN.sent), None, shown)
    broker = Mortal(lambda asked: False)
    broker.answers = {METADATA: answer}
    assert told(text, broker.address, tmp_path) == (code, said)
    broker.die()


def test_behind_fields_of_fixed_size_the_size_does_not_matter() -> None:
    asked = request(
        HEARTBEAT,
        4,
        {"group_id": "g", "generation_id": 1, "member_id": "m", "group_instance_id": None},
    )
    seen = observed(
        asked, replies=(response(HEARTBEAT, 4, {"throttle_time_ms": 0, "error_code": -1}),)
    )
    shown = server_error(seen, _path(seen))
    assert shown is not None
    assert shown.code == "minus_one(received, 0, 9, None)"
    assert "at byte 9" in shown.said
