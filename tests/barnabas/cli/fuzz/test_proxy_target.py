"""Our proxy as a target: it is up, passes cases on, and is gone afterwards."""

from __future__ import annotations

import pytest

from barnabas.cli.fuzz.proxy_target import ProxyService, tracebacks
from barnabas.fuzz.cases.case import Case, Recipe, Seed
from barnabas.fuzz.engine.assembly import oracles_for
from barnabas.fuzz.engine.rounds import judge
from barnabas.fuzz.targets import sender
from barnabas.fuzz.targets.broker import BrokerTarget

pytestmark = pytest.mark.slow("a proxy in a process of its own for each")

FRAME = bytes.fromhex("0003 0001 00000007 0001 61 ffffffff")


def case(number: int, data: bytes) -> Case:
    return Case(number, Recipe(Seed(3, 1, "request", FRAME, "x"), ()), (data,))


def test_cases_pass_through_it_and_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    # what stands behind it has no topics, so none is waited for
    monkeypatch.setattr(sender, "prepare", lambda *_: "")
    service = ProxyService()
    whole = len(FRAME).to_bytes(4, "big") + FRAME
    with BrokerTarget(service, batch=8, connections=2) as target:
        seen = list(target.run([case(0, whole), case(1, b"\x7f\xff\xff\xff"), case(2, whole)]))
        process = service._process
        assert process is not None
    assert [bool(one.replies) for one in seen] == [True, False, True]
    names = ("died", "hung", "traceback", "amplified")
    assert [judge(one, oracles_for("broker", names)) for one in seen] == [()] * 3
    assert process.poll() is not None


def test_tracebacks_are_taken_out_of_what_it_says() -> None:
    text = "a\nTraceback (most recent call last):\n  File x\n    y\nE: z\nb\nTraceback x\nF\n"
    assert [entry.splitlines()[-1] for entry in tracebacks(text)] == ["E: z", "F"]
