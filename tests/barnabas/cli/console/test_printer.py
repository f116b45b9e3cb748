"""Printing that fails ends once, is said, and what is not printed from then on is counted."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.cli.console.output import Output
from barnabas.cli.console.printer import Printer


def exchange(number: int) -> Exchange:
    return Exchange(0, 1, "c:1", "me", 1, 3, 1, number, 10)


def full(*_: Any) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_exchanges_are_counted_when_they_are_written() -> None:
    seen: list[int] = []
    printer = Printer(Output(), lambda found: seen.append(found.correlation_id))
    printer.exchange(exchange(1))
    printer.exchange(exchange(2))
    assert (seen, printer.shown) == ([1, 2], 2)
    assert [printer.write(), printer.write()] == [2, 0]
    assert (printer.unwritten, printer.broken) == (0, "")


@pytest.mark.parametrize("fails", ["show", "flush"])
def test_what_can_not_be_written_is_said_once_and_counted(
    fails: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = Output()
    ways: dict[str, Callable[[Exchange], None]] = {"show": full, "flush": lambda _: None}
    printer = Printer(output, ways[fails])
    if fails == "flush":
        monkeypatch.setattr(Output, "flush", full)
    for number in range(3):
        printer.exchange(exchange(number))
        assert printer.write() == 1
    assert (printer.broken, printer.unwritten) == ("stdout: No space left on device", 3)
    said = capsys.readouterr().err
    assert said == "stdout: No space left on device; exchanges are not printed any more\n"


def test_where_nobody_reads_lines_either_nothing_is_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Output, "note", full)
    printer = Printer(Output(), full)
    printer.exchange(exchange(1))
    printer.say("over")
    assert printer.write() == printer.unwritten == 1
