"""The pictures of docs/: `python -m tests.docs.pictures FOLDER` makes them.

recording.svg is a recording of three terminals. report.png is the page that `barnabas analyze` makes of the
demo's capture; overview.png, page.png and sequence.png are what `barnabas demo --web` shows in chromium, and
overview-dark.png what it shows who prefers dark colours.

`make pictures` writes those of the repository. `make docs` writes new ones into the site only, so a build of
the documentation leaves no changes in the repository.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.docs import recording, terminal
from tests.page.browser import barnabas, page_at


def report(folder: Path, picture: Path) -> None:
    """Draw the report on the demo's capture, which is written to the folder."""
    terminal.run(["barnabas", "demo"], folder)
    command = [sys.executable, "-m", "barnabas", "analyze", "demo.pcapng", "--out", "analysis"]
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, text=True, check=False, timeout=300
    )
    if done.returncode > 1:
        raise SystemExit(f"barnabas analyze: exit code {done.returncode}\n{done.stdout}")
    address = (folder / "analysis" / "report.html").as_uri()
    with page_at(address, width=1000) as shown:
        shown.set_viewport_size({"width": 1000, "height": 890})
        shown.screenshot(path=picture)


def page(pictures: Path) -> None:
    """Draw the page over the demo's traffic, after rules have held something back."""
    with barnabas("demo", "--web") as ready, page_at(ready["page"], width=1400) as shown:
        shown.set_viewport_size({"width": 1400, "height": 700})
        shown.wait_for_timeout(12_000)
        shown.keyboard.press("1")
        shown.wait_for_timeout(1500)
        shown.screenshot(path=pictures / "overview.png")
        shown.emulate_media(color_scheme="dark")
        shown.screenshot(path=pictures / "overview-dark.png")
        shown.emulate_media(color_scheme="light")
        shown.keyboard.press("2")
        shown.keyboard.press("End")
        shown.locator(".row", has_text="Produce").last.click()
        shown.locator("article .hex b[data-at=timeout_ms]").first.click()
        shown.screenshot(path=pictures / "page.png")
        shown.keyboard.press("Escape")
        shown.get_by_role("button", name="Sequence", exact=True).click()
        shown.get_by_role("button", name="Latest").click()
        shown.wait_for_timeout(1500)
        shown.screenshot(path=pictures / "sequence.png")


def main(pictures: Path) -> None:
    """Make all pictures in a folder."""
    if not shutil.which("chromium"):
        raise SystemExit("pictures need chromium, which is not on the path")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (pictures / "recording.svg").write_text(recording.make(folder).svg(), "utf-8")
        report(folder, pictures / "report.png")
    page(pictures)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
