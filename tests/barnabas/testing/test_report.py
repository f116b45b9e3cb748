"""The report of a failed test: how long it waits for the exchanges, and what it says if they do not come."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from barnabas.testing import report
from barnabas.testing.kafka_proxy import KafkaProxy
from barnabas.testing.report import wait_while


@pytest.mark.parametrize(
    ("pause", "count", "whole"),
    [(1, 3, True), (59, 100, True), (62, 1, True), (62, 3, False), (200, 2, False)],
)
def test_only_a_pause_ends_it(pause: int, count: int, whole: bool) -> None:
    """Each second is a look; something is read behind every pause, and nothing is left then."""
    clock = 0

    def over(_: float) -> bool:
        nonlocal clock
        clock += 1
        return clock >= pause * (count - 1) + 1

    def progress() -> int:
        return clock // pause

    assert wait_while(over, progress, 60, lambda: clock) == whole


def proxy(folder: Path, logged: int) -> KafkaProxy:
    out = folder / "exchanges.jsonl"
    out.write_text("{}\n" * (1 + logged))
    process = SimpleNamespace(out=out)
    return cast("KafkaProxy", SimpleNamespace(process=process, capture=folder / "capture.pcapng"))


def reads(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """What reads the capture in place of `barnabas decode`."""
    monkeypatch.setattr(report, "command", lambda *_: [sys.executable, "-c", script])


def test_how_far_it_came(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    waits = "import time; print('a'); print('b'); print('c', flush=True); time.sleep(600)"
    reads(monkeypatch, waits)

    def until_three(over: Callable[[float], bool], count: Callable[[], int], *_: Any) -> bool:
        while count() < 3:
            assert not over(0.01)
        return False

    monkeypatch.setattr(report, "wait_while", until_three)
    (line,) = report._exchanges(proxy(tmp_path, 10))
    assert line == (
        "3 of 10 exchanges read, and no more in 60 s, perhaps since the machine is busy: "
        f"barnabas decode {tmp_path / 'capture.pcapng'}"
    )


@pytest.mark.parametrize(
    ("script", "logged", "shown"),
    [
        (
            "for n in range(25): print('line', n)",
            25,
            ["... 5 exchanges before these", *(f"line {n}" for n in range(5, 25))],
        ),
        ("", 0, ["nothing passed"]),
        ("exit('no such file')", 0, ["no such file"]),
    ],
    ids=["the last lines", "none", "no file"],
)
def test_the_exchanges(
    script: str, logged: int, shown: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reads(monkeypatch, script)
    assert report._exchanges(proxy(tmp_path, logged)) == shown
