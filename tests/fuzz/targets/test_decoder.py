from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from barnabas.fuzz.cases.case import Case, Recipe, Seed
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.generators.messages import message
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.fuzz.oracles.registry import ORACLES
from barnabas.fuzz.targets import decoder as decoder_module
from barnabas.fuzz.targets.decoder import DecoderTarget
from barnabas.fuzz.targets.decoders import DECODERS, decoder
from barnabas.specs import Malformed
from barnabas.specs.frames import Direction
from barnabas.specs.registry import REGISTRY, api

CASE = Case(0, Recipe(Seed(3, 1, "request", b"", "x"), ()), (b"\0\0\0\0",))


def observed(reads: Any, *documented: type[Exception]) -> Observation:
    (one,) = DecoderTarget("d", reads, documented).run([CASE])
    return one


def verdicts(observation: Observation) -> list[Verdict]:
    oracles = [one for one in ORACLES if "decoder" in one.roles]
    return [verdict for oracle in oracles for verdict in oracle.judge(observation)]


def test_what_is_documented_is_fine() -> None:
    def refuses(case: Case) -> Mapping[str, Any]:
        raise Malformed("a", 0, "b")

    found = observed(refuses, Malformed)
    assert (found.raised, dict(found.facts)) == ("", {"refused": "Malformed"})
    assert verdicts(found) == []


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


def test_memory_that_no_input_justifies_is_told() -> None:
    kept: list[bytes] = []

    def greedy(case: Case) -> Mapping[str, Any]:
        # more than this process ever had
        kept.append(b"x" * (decoder_module._highest() + (300 << 20)))
        return {}

    found = verdicts(observed(greedy))  # on a busy machine so much takes too long, too
    assert ("greedy", "memory") in [(verdict.oracle, verdict.behaviour[0]) for verdict in found]


@pytest.mark.parametrize("otherwise", [[], ["topics"]])
def test_fields_that_differ_are_told(otherwise: list[str]) -> None:
    found = verdicts(observed(lambda case: {"otherwise": otherwise}))
    assert [verdict.oracle for verdict in found] == ["round_trip"] * bool(otherwise)


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


def test_another_name_is_told_what_there_is() -> None:
    with pytest.raises(Misuse, match="specs, captures"):
        decoder("x")
