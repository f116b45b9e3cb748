"""A campaign's corpus: what its target takes, what it wants, and where that comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from barnabas.fuzz.campaigns.campaign import Campaign
from barnabas.fuzz.corpus.corpora import CORPORA, EVERYTHING, Basis, corpus
from barnabas.fuzz.corpus.sources import captured, generated
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.frame_map.fields import map_of
from barnabas.specs import keys
from barnabas.specs.frames import Direction
from barnabas.specs.keys import API_VERSIONS, HEARTBEAT, METADATA, SASL_HANDSHAKE
from tests.places import SAMPLES

SOME = Basis("broker", ((METADATA, (1, 2)), (HEARTBEAT, (0,))))
FRAME = {
    "api": "Metadata",
    "key": METADATA,
    "version": 1,
    "direction": "request",
    "hex": "ffffffff",
}


def campaign(**more: Any) -> Campaign:
    value = {"version": 1, "target": "x", "budget": {"cases": 1}, **more}
    return Campaign.model_validate(value)


@pytest.mark.parametrize(
    ("role", "directions"),
    [("broker", {"request"}), ("client", {"response"}), ("decoder", {"request", "response"})],
)
def test_a_target_gets_what_its_role_reads(role: Any, directions: set[str]) -> None:
    result = corpus(campaign(), Basis(role, SOME.versions), Path())
    assert {one.direction for one in result} == directions
    assert {(one.key, one.version) for one in result} <= {
        (METADATA, 1),
        (METADATA, 2),
        (HEARTBEAT, 0),
    }


@pytest.mark.parametrize("name", [one.name for one in CORPORA])
def test_a_corpus_that_is_named_is_the_only_one(name: str) -> None:
    role: Any = "client" if name == "answers" else "broker"
    versions = EVERYTHING if name == "sessions" else SOME.versions
    result = corpus(campaign(corpora=[name]), Basis(role, versions), Path())
    starts = {"generated": "generated:", "sessions": "session:", "answers": "valid:"}
    assert result
    assert len({one.origin.partition(":")[0] for one in result}) == 1
    assert name == "answers" or all(one.origin.startswith(starts[name]) for one in result)


def test_apis_and_versions_are_those_that_the_campaign_wants() -> None:
    result = corpus(campaign(apis=["Metadata"], versions={"Metadata": "2+"}), SOME, Path())
    assert {(one.key, one.version) for one in result} == {(METADATA, 2)}
    with pytest.raises(CannotRun, match="no message of these APIs"):
        corpus(campaign(apis=["Fetch"]), SOME, Path())


def test_captures_and_files_of_frames_stand_beside_the_campaign(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(json.dumps(FRAME) + "\n")
    (tmp_path / "mine.pcapng").write_bytes((SAMPLES / "embedded.pcapng").read_bytes())
    settings = campaign(frames=["mine.jsonl"], captures=["mine.pcapng"])
    result = corpus(settings, Basis("broker", EVERYTHING), tmp_path)
    kinds = {one.origin.partition(":")[0] for one in result}
    assert kinds == {"generated", "session", "capture", "golden"}
    (mine,) = [one for one in result if one.origin.startswith("golden:")]
    assert (mine.key, mine.version, mine.frame[-4:]) == (METADATA, 1, b"\xff" * 4)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"frames": ["none.jsonl"]}, "none.jsonl: .*No such file"),
        ({"frames": ["text.gz"]}, "text.gz: Not a gzipped file"),
        ({"frames": ["cut.gz"]}, "cut.gz: "),
        ({"frames": ["text.jsonl"]}, "text.jsonl, line 1: not a frame"),
        ({"frames": ["second.jsonl"]}, "second.jsonl, line 2: not a frame"),
        ({"frames": ["binary.jsonl"]}, "binary.jsonl: "),
        ({"captures": ["text.jsonl"]}, "text.jsonl: "),
    ],
)
def test_what_can_not_be_read_is_a_line(more: Any, says: str, tmp_path: Path) -> None:
    (tmp_path / "text.jsonl").write_text("no JSON\n")
    (tmp_path / "second.jsonl").write_text(
        f"{json.dumps(FRAME)}\n{json.dumps(FRAME | {'hex': 'xyz'})}\n"
    )
    (tmp_path / "text.gz").write_text("no gzip\n")
    (tmp_path / "cut.gz").write_bytes(bytes.fromhex("1f8b0800000000000003"))
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\n")
    with pytest.raises(CannotRun, match=says) as problem:
        corpus(campaign(**more), SOME, tmp_path)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("more", "there"),
    [
        ({}, False),
        ({"target": "apache:4.3.1?listener=sasl_plaintext"}, True),
        ({"sessions": ("greeting",)}, True),
    ],
)
def test_what_comes_before_a_login_is_for_a_listener_that_wants_one(
    more: dict[str, Any], there: bool
) -> None:
    some = Basis("broker", ((SASL_HANDSHAKE, (0, 1)), (API_VERSIONS, (0, 1, 2, 3))))
    result = corpus(campaign(**more), some, Path())
    assert any(seed.origin.startswith("session:greeting:") for seed in result) == there


DIRECTIONS: tuple[Direction, ...] = ("request", "response")


def test_generated_ones_are_of_every_version_with_origins_of_their_own() -> None:
    result = generated("s", {keys.METADATA: (0, 13), keys.FETCH: (4, 5)}, "response", each=3)
    assert len({seed.origin for seed in result}) == len(result) == 3 * 16
    assert {(seed.key, seed.version) for seed in result if seed.key == keys.FETCH} == {
        (1, 4),
        (1, 5),
    }
    assert generated("s", {keys.METADATA: (1, 1)}, "request") != generated(
        "t", {keys.METADATA: (1, 1)}, "request"
    )
    with pytest.raises(LookupError):
        generated("s", {keys.METADATA: (0, 99)}, "request")


def test_captured_ones_are_each_there_once() -> None:
    capture = SAMPLES / "embedded.pcapng"
    for direction in DIRECTIONS:
        results = list(captured(capture, direction))
        assert results
        assert len({seed.origin for seed in results}) == len(results)
        assert len({(seed.key, seed.version, seed.frame) for seed in results}) == len(results)
        # librdkafka's mock cluster writes more than these versions have
        odd = {(seed.key, seed.version) for seed in results if map_of(seed).cut}
        assert odd <= {(keys.METADATA, 13), (keys.API_VERSIONS, 3)}
