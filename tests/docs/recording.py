"""The recording in docs/: a cluster, the proxy and a client in three terminals, as an animated SVG.

The commands run against a real cluster when the recording is made, and print what it shows. Its pace is its
own: a client writes twenty records in a second, too fast to read. Keyframes of CSS move a curtain down each
terminal, line by line, and scroll the terminal's lines when it is full. Without animation, for example
if the reader prefers reduced motion, the picture shows the end.
"""

from __future__ import annotations

import contextlib
import shlex
import subprocess
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from rich.text import Text

from tests.docs import terminal
from tests.docs.documents import DOCS, blocks
from tests.docs.terminal import BACKGROUND, CHARACTER, COLUMNS, FONT

KEY: Final = 0.035
"""Seconds for a key that is typed."""

PATIENCE: Final = 120
"""Seconds after which a command that still runs is killed."""

RULES: Final = """\
version: 1
rules:
  - name: moved
    match: {api: Produce, direction: request}
    when: {times: 3}
    do: {respond: {error: NOT_LEADER_OR_FOLLOWER}}
"""

_PROMPT: Final = Text("$ ", style="bold green")
_MARGIN: Final = 12
_HEADER: Final = 34
_PANE: Final = """\
<style>{styles}</style><defs>{lines}</defs>
{backgrounds}{matrix}"""
"""Rich's picture of a terminal without a frame."""


class Typed(NamedTuple):
    """A command that is typed at a prompt."""

    row: int
    start: float
    keys: int


@dataclass
class Pane:
    """A terminal of the recording: its rows, and when each appears."""

    name: str
    title: str
    height: int
    """Rows that are visible at a time."""
    rows: list[Text] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    commands: list[Typed] = field(default_factory=list)

    def scrolled(self, count: int) -> int:
        """Return how many rows are out of sight when count rows are there."""
        return max(0, count - self.height)


class Recording:
    """What happens in some terminals, one thing after the other."""

    def __init__(self, *panes: Pane) -> None:
        self.clock = 0.0
        self.panes = panes
        for pane in panes:
            self.prompt(pane)

    def wait(self, seconds: float) -> None:
        """Show what is there for a time."""
        self.clock += seconds

    def print(self, pane: Pane, rows: Iterable[Text], seconds: float) -> None:
        """Let rows appear, each so long after the one before."""
        for row in rows:
            self.clock += seconds
            pane.rows.append(row)
            pane.times.append(self.clock)

    def prompt(self, pane: Pane) -> None:
        """Show that the terminal waits for a command."""
        self.print(pane, [_PROMPT.copy()], 0)

    def type(self, pane: Pane, command: str) -> None:
        """Type a command at the prompt, which is the last row."""
        pane.commands.append(Typed(len(pane.rows) - 1, self.clock, len(command)))
        pane.rows[-1].append(command, style="bold white")
        self.clock += len(command) * KEY

    def svg(self) -> str:
        """Return the recording as a document that begins anew when it is over."""
        width = COLUMNS * CHARACTER[0] + 2 * _MARGIN
        top, parts = 0.0, []
        for pane in self.panes:
            parts.append(f'<g transform="translate({_MARGIN}, {top:g})">{self._pane(pane)}</g>')
            top += _HEADER + pane.height * CHARACTER[1] + _MARGIN
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {top:g}" role="img">\n'
            f"<title>{'; '.join(pane.title for pane in self.panes)}</title>\n"
            f"<style>\ntext {{ font: 20px {FONT}; white-space: pre }}\n.typing {{ visibility: hidden }}\n"
            f"</style>\n"
            f'<rect width="100%" height="100%" fill="{BACKGROUND}"/>\n'
            f"{''.join(parts)}\n</svg>\n"
        )

    def _pane(self, pane: Pane) -> str:
        name, count, height = pane.name, len(pane.rows), CHARACTER[1]
        curtain = {time: number for number, time in enumerate(pane.times, 1)}
        moved = {
            f"{name}-curtain": (curtain, count),
            f"{name}-scroll": (
                {time: -pane.scrolled(rows) for time, rows in curtain.items()},
                -pane.scrolled(count),
            ),
        }
        styles = [
            f"#{part} {{ transform: translateY({end * height:g}px) }}\n"
            + self._animation(
                part,
                {time: f"transform:translateY({y * height:g}px)" for time, y in steps.items()},
            )
            for part, (steps, end) in moved.items()
        ]
        covers = []
        for number, typed in enumerate(pane.commands):
            styles.append(self._typing(f"{name}-typing{number}", typed))
            covers.append(
                f'<g id="{name}-typing{number}" class="typing">'
                f'<rect x="{2 * CHARACTER[0]:g}" y="{typed.row * height + 1.5:g}" width="100%" '
                f'height="{height + 0.5:g}" fill="{BACKGROUND}"/>'
                f'<rect x="{2 * CHARACTER[0]:g}" y="{typed.row * height + 3:g}" '
                f'width="{CHARACTER[0]:g}" height="{height - 4:g}" fill="#999"/></g>'
            )
        return (
            f"<style>\n{''.join(styles)}</style>\n"
            f'<rect x="{-_MARGIN}" width="100%" height="{_HEADER - 6}" fill="#333"/>'
            f'<text y="{_HEADER - 13}" fill="#bbb">{pane.title}</text>'
            f'<clipPath id="{name}-screen"><rect y="1" width="100%" '
            f'height="{pane.height * height + 1:g}"/></clipPath>'
            f'<g transform="translate(0, {_HEADER})"><g clip-path="url(#{name}-screen)">'
            f'<g id="{name}-scroll">{terminal.svg(pane.rows, _PANE, name)}{"".join(covers)}'
            f'<rect id="{name}-curtain" x="-2" y="1.5" width="100%" height="{count * height:g}" '
            f'fill="{BACKGROUND}"/></g></g></g>'
        )

    def _typing(self, name: str, typed: Typed) -> str:
        end = f"transform:translateX({typed.keys * CHARACTER[0]:g}px)"
        return self._animation(
            name,
            {
                0: "visibility:visible",
                typed.start: "visibility:visible;transform:translateX(0);"
                f"animation-timing-function:steps({typed.keys})",
                typed.start + typed.keys * KEY: f"visibility:hidden;{end}",
            },
        )

    def _animation(self, name: str, frames: dict[float, str]) -> str:
        """Return the rules that set an element's properties at some times, each until the next."""
        keyframes = "".join(
            f"{100 * time / self.clock:.3f}%{{{properties}}}\n"
            for time, properties in frames.items()
        )
        return (
            f"@keyframes {name} {{ {keyframes} }}\n"
            "@media (prefers-reduced-motion: no-preference) {"
            f" #{name} {{ animation: {name} {self.clock:.2f}s step-end infinite }} }}\n"
        )


@contextlib.contextmanager
def running(command: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a command on a terminal until the block ends, unless it ends before."""
    with terminal.start(shlex.split(command), folder) as process:
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        try:
            yield process
            if process.poll() is None:
                interrupt(process)
        finally:
            timer.cancel()
            process.kill()


def until(process: subprocess.Popen[str], text: str) -> str:
    """Return what a command prints, up to the first line that contains a text."""
    assert process.stdout
    lines = []
    for line in process.stdout:
        lines.append(line)
        if text in line:
            return "".join(lines).rstrip()
    raise SystemExit(f"the command ended before it printed {text!r}:\n{''.join(lines)}")


def interrupt(process: subprocess.Popen[str]) -> str:
    """Press Ctrl-C and return what the command prints until it ends."""
    assert process.stdin
    assert process.stdout
    process.stdin.write("\x03")
    process.stdin.flush()
    output = process.stdout.read()
    process.wait()
    return output.rstrip()


def make(folder: Path) -> Recording:
    """Record the tutorial's client against a cluster and a proxy with a rule."""
    (folder / "moved.yaml").write_text(RULES, "utf-8")
    for block in blocks(DOCS / "tutorials" / "first-ten-minutes.md", "python"):
        (folder / block.file).write_text(block.text, "utf-8")
    brokers = Pane("brokers", "terminal 1: a cluster", 3)
    proxy = Pane("proxy", "terminal 2: the proxy", 23)
    client = Pane("client", "terminal 3: a client", 7)
    recording = Recording(brokers, proxy, client)

    def show(pane: Pane, command: str) -> None:
        """Type a command, and show what it prints to its end."""
        recording.type(pane, command)
        output = terminal.run(shlex.split(command), folder).rstrip()
        recording.print(pane, terminal.rows(output), 0.1)
        recording.prompt(pane)
        recording.wait(1)

    recording.wait(1)
    recording.type(brokers, command := "barnabas peers start embedded")
    with running(command, folder) as cluster:
        ready = until(cluster, '"ready"')
        recording.print(brokers, terminal.rows(ready), 0.2)
        recording.wait(1)
        show(proxy, "cat moved.yaml")
        recording.wait(1.5)
        address = ready.partition('"bootstrap": "')[2].partition(",")[0]
        command = f"barnabas proxy -b {address} --scenario moved.yaml --capture moved.pcapng"
        recording.type(proxy, command)
        with running(command, folder) as process:
            recording.print(proxy, terminal.rows(until(process, '"ready"')), 0.1)
            recording.wait(1)
            recording.type(client, command := "python producer.py")
            terminal.run(shlex.split(command), folder)
            log, key, tables = interrupt(process).partition("^C")
        recording.print(proxy, terminal.rows(log.rstrip()), 0.2)
        recording.prompt(client)
        recording.wait(1)
        recording.print(proxy, terminal.rows(key + tables), 0.1)
        recording.prompt(proxy)
        recording.wait(2)
        show(client, "barnabas rehearse moved.pcapng --check")
        show(client, "barnabas check moved.pcapng")
    recording.wait(5)
    return recording
