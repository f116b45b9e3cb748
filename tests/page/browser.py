"""A real browser, and what is started for it to look at."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from playwright.async_api import Page as AsyncPage
    from playwright.sync_api import Page

LOOKS: Final = (("light", 1600), ("dark", 400))
"""Colours and widths."""


def _chromium() -> Any:
    return {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}


def _looks(scheme: str, width: int) -> Any:
    return {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}


def _noted(page: Any) -> list[str]:
    """What a page will have said on its console, of its errors and in dialogs."""
    page.set_default_timeout(60_000)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda problem: said.append(str(problem)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    return said


def _with_view(address: str, view: str) -> str:
    return address if "#token=" not in address or "view=" in address else f"{address}&view={view}"


@contextlib.contextmanager
def page_at(
    address: str, scheme: str = "light", width: int = 1600, view: str = "exchanges"
) -> Iterator[Page]:
    """A page in Debian's chromium that said nothing on its console in the end, and had no errors.

    view: What the live page begins with, unless the address says so.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(**_chromium())
        page = browser.new_page(**_looks(scheme, width), reduced_motion="reduce")
        said = _noted(page)
        page.goto(_with_view(address, view))
        try:
            yield page
        finally:
            browser.close()
    assert said == []


@contextlib.asynccontextmanager
async def opened_at(
    address: str, scheme: str = "light", width: int = 1600, view: str = "exchanges"
) -> AsyncIterator[tuple[AsyncPage, list[str]]]:
    """The same for a page whose server shares the test's loop, and what it said."""
    playwright = pytest.importorskip("playwright.async_api")
    async with playwright.async_playwright() as driver:
        browser = await driver.chromium.launch(**_chromium())
        page = await browser.new_page(**_looks(scheme, width))
        said = _noted(page)
        await page.goto(_with_view(address, view))
        yield page, said
        await browser.close()


@contextlib.contextmanager
def barnabas(*words: str) -> Iterator[dict[str, Any]]:
    """A command that runs, as its ready line says (of `open` that is the page's address alone); it ends with
    what it was given for stdin."""
    process = subprocess.Popen(
        [sys.executable, "-m", "barnabas", "--until-eof", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    try:
        while line := process.stdout.readline():
            if line.startswith(('{"ready"', "http:")):
                break
        yield {"page": line.strip()} if line.startswith("http:") else json.loads(line)["ready"]
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(20)


def axe(page: Page) -> list[str]:
    """All that bars those who see, hear or point otherwise, by axe-core."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {each['help']}: {[node['html'][:120] for node in each['nodes'][:3]]}"
        for each in found
    ]


def choose_scheme(page: Page, scheme: str) -> None:
    """Chooses the colours of a page: light, dark or system."""
    page.get_by_role("radio", name=scheme, exact=True).check(force=True)


def axe_in_both_schemes(page: Page) -> list[str]:
    """All that axe-core knows, in light and in dark colours by the page's switch."""
    found = []
    for scheme in ("light", "dark"):
        choose_scheme(page, scheme)
        found += [f"{scheme}: {each}" for each in axe(page)]
    choose_scheme(page, "system")
    return found
