"""An exchange is copied in each form, and compared with another one."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.page.browser import barnabas, opened_at, page_at
from tests.page.pages import FAULTS, served, shown

if TYPE_CHECKING:
    from playwright.async_api import Position

CLIPBOARD = """async () => {
  for (;;) {
    const text = await navigator.clipboard.readText();
    if (text) return text;
    await new Promise(requestAnimationFrame);
  }
}"""
"""The text in the clipboard, once there is one."""

pytestmark = pytest.mark.needs_chromium


def test_the_copied_commands_are_about_the_exchange() -> None:
    with (
        barnabas("open", f"{FAULTS}#7", "--no-browser") as ready,
        page_at(ready["page"]) as page,
    ):
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.locator("article h2", has_text="Produce v10").wait_for()

        def copied(label: str) -> str:
            page.evaluate("navigator.clipboard.writeText('')")
            page.locator("summary", has_text="Copy").click()
            page.get_by_role("button", name=label, exact=True).click()
            text: str = page.evaluate(CLIPBOARD)
            return text

        assert page.locator("li b.error").all_inner_texts() == ["NOT_ENOUGH_REPLICAS"]
        whole = json.loads(copied("JSON"))
        decode = shlex.split(copied("barnabas decode …"))
        assert decode[0] == "barnabas"
        done = subprocess.run(
            [sys.executable, "-m", *decode], capture_output=True, text=True, check=True
        )
        lines = done.stdout.splitlines()
        assert len(lines) == 1
        assert json.loads(lines[0])["correlation_id"] == whole["correlation_id"]
        assert json.loads(copied("Request as JSON"))["acks"] == whole["request"]["acks"]
        assert shlex.split(copied("barnabas open …")) == ["barnabas", "open", f"{FAULTS}#7"]
        assert bytes.fromhex(copied("Request in hex"))
        assert "respond:\n    error: NOT_ENOUGH_REPLICAS" in copied("Rule")
        assert "def test_" in copied("test: pytest")
        for language, part in {
            "Go": "barnabastest.Start(t",
            "Java": "@KafkaProxy",
            "Node": "await start(t)",
        }.items():
            test = copied(f"test: {language}")
            assert part in test
            assert "api == 'Produce'" in test


@pytest.mark.parametrize("width", [360, 420, 1600])
async def test_the_menu_of_copies_is_within_the_window(width: int) -> None:
    _, app = shown()
    async with served(app) as address, opened_at(address, width=width) as (page, said):
        await page.locator(".rows .row", has_text="Produce").first.click()
        await page.locator("summary", has_text="Copy").click()
        names = await page.locator(".copies .menu button").all_inner_texts()
        assert names[-4:] == ["test: pytest", "test: Go", "test: Java", "test: Node"]
        box = await page.locator(".copies .menu").bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        await page.get_by_role("button", name="test: Node").click(trial=True)
        assert said == []


async def test_two_exchanges_are_compared_field_by_field() -> None:
    history, app = shown()
    first, second, *_ = (number for number, each in history.kept() if each.api == "Produce")
    async with served(app) as address, opened_at(address) as (page, said):
        edge: Position = {"x": 4, "y": 4}  # the middle may have a button that comes with the mouse
        await page.locator(f"#x{first}").click(position=edge)
        await page.keyboard.press("x")
        await page.locator(f"#x{first}.picked").wait_for()
        await page.locator(f"#x{second}").click(position=edge)
        await page.get_by_role("button", name="Compare with #").click()
        response = page.locator("section", has=page.get_by_text("response,")).last
        await response.locator("li.differs", has_text="index").locator("del").wait_for()
        assert await page.locator("li.differs", has_text="acks").locator("del").count() == 0
        assert said == []
