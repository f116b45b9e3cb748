"""The pictures of docs/: `python -m tests.docs.pictures` makes them anew.

log.svg is what `barnabas demo` prints on a terminal, shortened where it says `...`; report.png is the page
that `barnabas analyze` makes of the demo's capture, page.png and sequence.png are what `barnabas demo --web`
shows, all as chromium has them.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

from tests.page.browser import barnabas, page_at
from tests.places import ROOT

PICTURES: Final = ROOT / "docs" / "pictures"
_BARNABAS: Final = str(Path(sys.executable).with_name("barnabas"))
_COLUMNS: Final = 108
_BEFORE: Final = 16
"""Lines of the log up to the one that shows a rule at work; without ApiVersions, as `barnabas proxy`
leaves them out on a terminal."""

_SVG: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>barnabas demo</title>
<style>
.{unique_id}-matrix {{ font: {char_height}px Menlo, Consolas, "DejaVu Sans Mono", monospace;
line-height: {line_height}px; font-variant-east-asian: full-width }}
{styles}
</style>
<rect width="100%" height="100%" rx="8" fill="#191919"/>
<defs>{lines}</defs>
<g transform="translate({terminal_x}, {terminal_y})">{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""
"""Rich's picture of a terminal without its window and its fonts from elsewhere."""


def on_a_terminal(command: list[str], folder: Path) -> str:
    """What a command prints on a terminal, with its colours."""
    words = ["script", "-qec", f"stty cols {_COLUMNS} rows 40; {shlex.join(command)}", "/dev/null"]
    done = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "TERM": "xterm-256color"},
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{command}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def shortened(said: str) -> list[Text]:
    """The part of the demo's output that fits a picture."""
    lines = [Text.from_ansi(line) for line in said.replace("\r", "").split("\n")]
    plain = [line.plain for line in lines]
    at = next(n for n, line in enumerate(plain) if "⟵" in line and "commit" in line.lower())
    exchanges = [line for line in lines[: at + 4] if re.match(r"\d\d:.*ms", line.plain)]
    log = [line for line in exchanges if "ApiVersions" not in line.plain][-_BEFORE:]
    apis = next(n for n, line in enumerate(plain) if line.startswith("API "))
    rules = next(n for n, line in enumerate(plain) if line.startswith("rule "))
    rest = [line for line in lines[rules:] if line.plain]
    more = Text("...", style="dim")
    return [*log, more, *lines[apis : apis + 5], more, *rest[:5], more, *rest[6:10], more]


def log(folder: Path) -> str:
    """The picture of the log, and the demo's capture in the folder."""
    console = Console(width=_COLUMNS, record=True, file=io.StringIO(), force_terminal=True)
    for line in shortened(on_a_terminal([_BARNABAS, "demo"], folder)):
        line.truncate(_COLUMNS)
        console.print(line, no_wrap=True, crop=True)
    return console.export_svg(title="", theme=DIMMED_MONOKAI, code_format=_SVG, unique_id="log")


def report(folder: Path, picture: Path) -> None:
    """The picture of the report on the demo's capture."""
    command = [_BARNABAS, "analyze", "demo.pcapng", "--out", "analysis"]
    if subprocess.run(command, cwd=folder, check=False, timeout=300).returncode > 1:
        raise SystemExit("barnabas analyze did not make the report")
    address = (folder / "analysis" / "report.html").as_uri()
    with page_at(address, width=1000) as shown:
        shown.set_viewport_size({"width": 1000, "height": 890})
        shown.screenshot(path=picture)


def page(pictures: Path) -> None:
    """The pictures of the page over the demo's traffic, when rules have held something back."""
    with barnabas("demo", "--web") as ready, page_at(ready["page"], width=1400) as shown:
        shown.set_viewport_size({"width": 1400, "height": 700})
        shown.wait_for_timeout(12_000)
        shown.keyboard.press("End")
        shown.locator(".row", has_text="Produce").last.click()
        shown.locator("article .hex b[data-at=timeout_ms]").first.click()
        shown.screenshot(path=pictures / "page.png")
        shown.keyboard.press("Escape")
        shown.get_by_role("button", name="Sequence").click()
        shown.get_by_role("button", name="Latest").click()
        shown.wait_for_timeout(1500)
        shown.screenshot(path=pictures / "sequence.png")


if __name__ == "__main__":
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        (PICTURES / "log.svg").write_text(log(Path(name)), encoding="utf-8")
        report(Path(name), PICTURES / "report.png")
    page(PICTURES)
