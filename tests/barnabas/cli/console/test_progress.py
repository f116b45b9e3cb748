from __future__ import annotations

import io
from typing import Any

import pytest
from rich.progress import Progress

from barnabas.cli.console.output import Output
from barnabas.cli.console.progress import IN_BYTES, progress_bar
from barnabas.cli.console.terminal import Terminal
from tests.barnabas.cli.console.test_terminal import HOSTILE, steers


def bar(width: int, seconds: float = 12.0) -> Progress:
    """Make a bar at a fixed time after its start."""
    out = Terminal(file=io.StringIO(), width=width, force_terminal=True)
    progress = progress_bar(Output(err=out))
    times = iter([0.0])
    progress.get_time = lambda: next(times, seconds)
    return progress


def shown(progress: Progress) -> str:
    out = Terminal(file=io.StringIO(), width=progress.console.width)
    out.print(progress.get_renderable(), soft_wrap=False)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().rstrip("\n")


@pytest.mark.parametrize(
    ("total", "done", "fields", "text"),
    [
        (704, 312, {}, "312/704 0:12 group/rejoins"),
        (None, 1234, {"unit": "requests"}, "1,234 requests 0:12 group/rejoins"),
        (35_200, 17_000, {"unit": IN_BYTES}, "17.0 kB of 35.2 kB 0:12 group/rejoins"),
        (9, 3, {"note": "2 of 5 tasks"}, "3/9 0:12 group/rejoins  2 of 5 tasks"),
    ],
)
def test_all_bars_have_one_style(
    total: int | None, done: int, fields: dict[str, Any], text: str
) -> None:
    progress = bar(100)
    progress.add_task("group/rejoins", total=total, completed=done, **fields)
    begin, found = shown(progress)[:24], shown(progress)[25:].rstrip()
    assert set(begin) <= set("━╸╺ ")
    assert found == text


def test_a_bar_fits_and_long_texts_do_not_move_it() -> None:
    progress = bar(80)
    progress.add_task("x" * 200, total=9, completed=3, note="y" * 50)
    (line,) = shown(progress).splitlines()
    assert len(line) <= 80
    assert line[25:].startswith("3/9 0:12 xxx")
    assert line.rstrip().endswith("…")


def test_names_do_not_steer_the_terminal() -> None:
    progress = bar(200)
    progress.add_task(HOSTILE, total=9, note=HOSTILE)
    assert steers(shown(progress)) == ""
    assert "[red]e[/]" in shown(progress)


def test_nothing_is_shown_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    for output in (Output(), Output(err=Terminal(file=io.StringIO()))):
        with progress_bar(output) as progress:
            progress.advance(progress.add_task("working", total=2))
        assert progress.disable
    assert capsys.readouterr() == ("", "")
