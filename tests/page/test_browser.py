"""The page in a real browser, over a capture whose client ids are markup."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from barnabas.captures.capture import open_capture
from barnabas.loop import run
from barnabas.page.api import application
from barnabas.page.store import Store
from barnabas.proxy.control.serving import serve


@pytest.mark.needs_chromium
@pytest.mark.parametrize(("scheme", "width"), [("light", 1600), ("dark", 400)])
def test_by_keys_alone_from_the_filter_to_a_fields_bytes(scheme: str, width: int) -> None:
    playwright = pytest.importorskip("playwright.async_api")
    capture = open_capture(Path("captures/samples/faults.pcapng"))
    store = Store(capture.context)
    for exchange in capture.learn(capture.exchanges()):
        exchange.client_id = "<img src=x onerror=alert(1)>\u202e\x1b"
        store.add(exchange)
    store.over = True

    async def main() -> None:
        serving = await serve(
            application(store, {"kind": "capture", "name": "faults"}),
            ("127.0.0.1", 0),
            "secret",
            lambda path: not path.startswith("/api/"),
        )
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
            assert await page.locator("aside").is_hidden()
            assert said == []
            await browser.close()
        await asyncio.wait_for(serving.stop(), 5)

    run(main())
