from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.text import Text

from tests.docs import terminal
from tests.docs.documents import DOCS
from tests.docs.recording import KEY, Pane, Recording, interrupt, running, until
from tests.docs.terminal import CHARACTER, COLUMNS
from tests.page.browser import page_at

PICTURE = DOCS / "pictures" / "recording.svg"
ANIMATIONS = """seconds => {
  const found = document.getAnimations()
  for (const each of found) { each.pause(); each.currentTime = 1000 * seconds }
  return found.map(each => each.effect.getTiming().duration / 1000)
}"""
VISIBLE = """name => {
  const curtain = document.getElementById(name + '-curtain').getBoundingClientRect()
  const screen = document.getElementById(name + '-screen').firstChild.getBBox()
  const pane = document.getElementById(name + '-scroll').parentNode.getCTM()
  const texts = [...document.querySelectorAll('#' + name + '-scroll > text')]
  return texts.filter(text => {
    const { top, bottom } = text.getBoundingClientRect()
    return (top + bottom) / 2 < curtain.top && (top + bottom) / 2 > pane.f + screen.y * pane.d
  }).map(text => text.textContent.trim()).filter(text => text)
}"""


@pytest.fixture
def recording() -> Recording:
    """A terminal of two rows: a command is typed at 1 s, and prints a line at each of 2, 3 and 4 s after."""
    shell = Pane("shell", "a shell", 2)
    recording = Recording(shell)
    recording.wait(1)
    recording.type(shell, "count")
    recording.print(shell, map(Text, ("one", "two", "three")), 1)
    recording.wait(1)
    return recording


def frames(svg: str, name: str) -> Iterator[tuple[float, str]]:
    """The keyframes of an element."""
    block = re.search(rf"@keyframes {name} {{(.*?)}}\n }}", svg, re.S)
    assert block
    for percent, properties in re.findall(r"([\d.]+)%{(.*?)(?:}|$)", block[1]):
        yield float(percent), properties


def test_rows_appear_one_after_the_other_and_scroll(recording: Recording) -> None:
    svg = recording.svg()
    length = 1 + len("count") * KEY + 4
    assert recording.clock == pytest.approx(length)
    times = [0, *(100 * (1 + len("count") * KEY + after) / length for after in (1, 2, 3))]
    for name, rows in (("curtain", (1, 2, 3, 4)), ("scroll", (0, 0, -1, -2))):
        now = list(frames(svg, f"shell-{name}"))
        assert [time for time, _ in now] == pytest.approx(times, abs=0.001)
        assert [properties for _, properties in now] == [
            f"transform:translateY({row * CHARACTER[1]:g}px)" for row in rows
        ]


def test_a_command_is_typed_key_by_key(recording: Recording) -> None:
    before, typing, after = [
        properties for _, properties in frames(recording.svg(), "shell-typing0")
    ]
    assert before == "visibility:visible"
    assert typing.endswith("animation-timing-function:steps(5)")
    assert after == f"visibility:hidden;transform:translateX({5 * CHARACTER[0]:g}px)"


def test_a_command_is_hidden_in_its_row(recording: Recording) -> None:
    recording.prompt(recording.panes[0])
    recording.type(recording.panes[0], "next")
    covers = re.findall(r'<g id="(\S+)" class="typing"><rect x="24.4" y="(\S+)"', recording.svg())
    assert [(name, float(y) // CHARACTER[1]) for name, y in covers] == [
        ("shell-typing0", 0),
        ("shell-typing1", 4),
    ]


def test_without_animation_the_end_is_shown(recording: Recording) -> None:
    svg = recording.svg()
    assert f"#shell-curtain {{ transform: translateY({4 * CHARACTER[1]:g}px) }}" in svg
    assert f"#shell-scroll {{ transform: translateY({-2 * CHARACTER[1]:g}px) }}" in svg
    animated = [line for line in svg.splitlines() if "animation:" in line]
    assert len(animated) == 3
    assert all("@media (prefers-reduced-motion: no-preference)" in line for line in animated)


@pytest.mark.needs_chromium
def test_a_browser_shows_the_rows_of_a_time(recording: Recording, tmp_path: Path) -> None:
    (tmp_path / "recording.svg").write_text(recording.svg(), "utf-8")
    with page_at((tmp_path / "recording.svg").as_uri()) as shown:
        assert shown.evaluate(ANIMATIONS, 0) == []
        assert shown.evaluate(VISIBLE, "shell") == ["two", "three"]
        shown.emulate_media(reduced_motion="no-preference")
        for seconds, texts in (
            (0, ["$", "count"]),
            (3.1, ["$", "count", "one"]),
            (4.1, ["one", "two"]),
            (5.1, ["two", "three"]),
        ):
            assert set(shown.evaluate(ANIMATIONS, seconds)) == {round(recording.clock, 2)}
            assert shown.evaluate(VISIBLE, "shell") == texts
        assert (
            shown.evaluate("getComputedStyle(document.getElementById('shell-typing0')).visibility")
            == "hidden"
        )


def test_the_recording_of_the_documents_shows_a_rule_at_work() -> None:
    text = "".join(ElementTree.parse(PICTURE).getroot().itertext()).replace(
        "\N{NO-BREAK SPACE}", " "
    )
    assert "⟵ moved" in text
    assert re.search(r"\b0 of \d+ decisions differ", text)
    assert {
        20 <= float(length) <= 40 for length in re.findall(r"animation: \S+ ([\d.]+)s", text)
    } == {True}


def test_output_is_broken_into_rows_where_the_terminal_does() -> None:
    broken = list(terminal.rows(f"\x1b[1m{'x' * (2 * COLUMNS + 3)}\x1b[0m\r\n\r\nend"))
    assert [row.plain for row in broken] == ["x" * COLUMNS, "x" * COLUMNS, "xxx", "", "end"]
    assert broken[2].spans[0].style.bold  # type: ignore[union-attr]


def test_a_command_that_fails_ends_the_recording(tmp_path: Path) -> None:
    assert terminal.run(["stty", "size"], tmp_path) == f"40 {COLUMNS}\n"
    with pytest.raises(SystemExit, match="exit code 1"):
        terminal.run(["false"], tmp_path)


def test_a_command_runs_until_ctrl_c(tmp_path: Path) -> None:
    program = "trap 'echo bye; exit' INT; echo loud; echo ready; sleep 60 & wait"
    with running(f'bash -c "{program}"', tmp_path) as process:
        assert until(process, "ready") == "loud\nready"
        assert interrupt(process) == "^Cbye"
    with running("echo no", tmp_path) as process, pytest.raises(SystemExit, match="ready"):
        until(process, "ready")
