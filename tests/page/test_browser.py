"""The page in a real browser, over a capture whose client ids are markup."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.loop import run
from barnabas.page.api import is_file
from barnabas.proxy.control.serving import serve
from tests.page.pages import shown


@pytest.mark.needs_chromium
@pytest.mark.parametrize(("scheme", "width"), [("light", 1600), ("dark", 400)])
def test_by_keys_alone_from_the_filter_to_a_fields_bytes(scheme: str, width: int) -> None:
    playwright = pytest.importorskip("playwright.async_api")

    def markup(exchange: Exchange) -> None:
        exchange.client_id = "<img src=x onerror=alert(1)>\u202e\x1b"

    async def main() -> None:
        _, app = shown(Path("captures/samples/faults.pcapng"), markup)
        serving = await serve(app, ("127.0.0.1", 0), "secret", is_file)
        async with playwright.async_playwright() as driver:
            browser = await driver.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox"]
            )
            page = await browser.new_page(
                viewport={"width": width, "height": 900}, color_scheme=scheme
            )
            said: list[str] = []
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda problem: said.append(str(problem)))
            page.on("dialog", lambda dialog: said.append(dialog.message))
            await page.goto(f"http://127.0.0.1:{serving.address[1]}/#token=secret")
            await page.wait_for_selector(".row .api")
            assert "secret" not in page.url
            await page.keyboard.press("f")
            await page.keyboard.type("api == 'Produce'")
            await page.get_by_text("7 of 53").wait_for()
            await page.keyboard.press("Escape")
            await page.wait_for_selector("#names", state="hidden")
            await page.keyboard.press("Escape")
            await page.keyboard.press("j")
            await page.keyboard.press("Enter")
            await page.wait_for_selector("article")
            assert "filter=" in page.url
            assert "at=" in page.url
            client = await page.text_content(".rows .client")
            assert client == "<img src=x onerror=alert(1)>\\u202e\\u001b"
            await page.locator("li:not(:has(ul)) .key").nth(3).hover()
            assert await page.locator(".hex .lit").count() > 0
            await page.keyboard.press("Escape")
            await page.wait_for_selector("aside", state="detached")
            assert said == []
            await browser.close()
        await asyncio.wait_for(serving.stop(), 5)

    run(main())
