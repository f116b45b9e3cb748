from __future__ import annotations

import os
import struct
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from barnabas.fuzz.cases.case import Case, Recipe, Seed
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.generators.messages import message
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.fuzz.oracles.registry import ORACLES
from barnabas.fuzz.targets import decoder as decoder_module
from barnabas.fuzz.targets import decoders
from barnabas.fuzz.targets.decoder import DecoderTarget
from barnabas.fuzz.targets.decoders import DECODERS, decoder
from barnabas.fuzz.targets.process_usage import rss
from barnabas.specs import Malformed, Unfit
from barnabas.specs.codec.careful_decoder import MAX_STRING
from barnabas.specs.frames import Direction
from barnabas.specs.registry import REGISTRY, api

CASE = Case(0, Recipe(Seed(3, 1, "request", b"", "x"), ()), (b"\0\0\0\0",))
METADATA = "0000000f 0003 0001 00000007 0001 61 ffffffff"


def observed(reads: Any, *documented: type[Exception]) -> Observation:
    (one,) = DecoderTarget("d", reads, documented).run([CASE])
    return one


def verdicts(observation: Observation) -> list[Verdict]:
    oracles = [one for one in ORACLES if "decoder" in one.roles]
    return [verdict for oracle in oracles for verdict in oracle.judge(observation)]


def test_what_is_not_documented_is_told_with_where_it_was_raised() -> None:
    def breaks(case: Case) -> Mapping[str, Any]:
        empty: dict[int, Mapping[str, Any]] = {}
        return empty[case.number]

    (verdict,) = verdicts(observed(breaks, Malformed))
    assert (verdict.oracle, verdict.behaviour) == (
        "undocumented", ("KeyError", "test_decoder.py:breaks", "decoder.py:_run"),
    )  # fmt: skip


def test_what_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder_module, "LIMIT_S", 0.05)

    def hangs(case: Case) -> Mapping[str, Any]:
        while True:
            pass

    (verdict,) = verdicts(observed(hangs))
    # where it was by then is chance
    assert verdict.behaviour == ("GaveUp", "no stack", "Metadata")


def test_what_is_not_given_the_processor_is_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder_module, "LIMIT_S", 0.2)

    def waits(case: Case) -> Mapping[str, Any]:
        threading.Event().wait(0.5)  # as on a busy machine
        return {}

    found = observed(waits)
    assert (found.raised, verdicts(found)) == ("", [])


def test_memory_that_no_input_justifies_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    most = decoder_module._highest()
    assert most > 0.9 * (rss(os.getpid()) or (0, 0))[0]  # as far as pages are counted at once
    readings = iter([most, most + (300 << 20)])
    monkeypatch.setattr(decoder_module, "_highest", lambda: next(readings))
    (verdict,) = verdicts(observed(lambda case: {}))
    assert (verdict.oracle, verdict.behaviour[0]) == ("greedy", "memory")


@pytest.mark.parametrize("name", [one.name for one in DECODERS])
def test_valid_messages_are_read_by_our_own(name: str) -> None:
    directions: tuple[Direction, ...] = ("request", "response")
    cases = []
    for key, _, _ in REGISTRY[::4]:
        for direction in directions:
            version = api(key).versions[1]
            seed = message(key, version, direction, SeededRandom("s", key), "x")
            frame = len(seed.frame).to_bytes(4, "big") + seed.frame
            cases.append(Case(key, Recipe(seed, ()), (frame,)))
    for one in decoder(name).run(cases):
        assert dict(one.facts).get("refused") is None, one
        assert verdicts(one) == []


@pytest.mark.parametrize("place", ["client_id", "topics"])
def test_text_that_is_too_long_with_its_wrong_bytes_replaced_is_no_finding(place: str) -> None:
    """A split character of UTF-8 is a byte or two, U+FFFD is three; a length has no more than 32767."""
    seed = message(3, 1, "request", SeededRandom("s", 0), "x")
    for broken, unwritten in ((b"\xc3", True), (b"a", False)):
        text = b"a" * (MAX_STRING - 1) + broken
        size = struct.pack(">h", len(text))
        client, topic = (size + text, b"\0\0") if place == "client_id" else (b"\0\0", size + text)
        frame = struct.pack(">hhi", 3, 1, 7) + client + struct.pack(">i", 1) + topic
        case = Case(0, Recipe(seed, ()), (struct.pack(">i", len(frame)) + frame,))
        (found,) = decoder("specs").run([case])
        assert verdicts(found) == []
        assert ("unwritten" in dict(found.facts)) is unwritten


def test_what_can_not_be_written_for_no_known_reason_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unfit(frame: object) -> bytes:
        raise Unfit("topics[0].name", "a string of 32768 bytes; 32767 is the most")

    monkeypatch.setattr(decoders, "encode_frame", unfit)
    (found,) = decoder("specs").run([CASE._replace(chunks=(bytes.fromhex(METADATA),))])
    assert [one.oracle for one in verdicts(found)] == ["undocumented"]
