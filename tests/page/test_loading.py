"""Views say that they load, and buttons wait for what they act on: answers are held back here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.page.browser import page_at
from tests.page.test_live import proxied

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.needs_chromium, pytest.mark.timeout(180)]

LOADING = "Loading …"


class Held:
    """Requests of a path that wait for their answers, from now on until they are released."""

    def __init__(self, page: Page, path: str) -> None:
        self._waiting: list[Route] = []
        self._holds = True
        page.route(f"**/v1{path}", self._came)

    def _came(self, route: Route) -> None:
        if self._holds:
            self._waiting.append(route)
        else:
            route.continue_()

    def release(self) -> None:
        """Answer all of them, and later ones at once."""
        self._holds = False
        for route in self._waiting:
            route.continue_()


def test_each_view_says_that_it_loads_until_it_has_something_to_show() -> None:
    views = {
        "groups": ("/groups*", "No group has been seen."),
        "transactions": ("/transactions", "No transaction has been seen."),
        "topics": ("/topics", "Nobody has written or read."),
        "latency": ("/latency", "No response has been seen."),
        "breakpoints": ("/breakpoints", "No message waits at a breakpoint."),
        "network": ("/connections", "No connection is open."),
        "rules": ("/scenario", "There are no rules."),
    }
    with proxied() as ready, page_at(ready["page"]) as page:
        page.wait_for_selector("nav button")
        for name, (path, empty) in views.items():
            held = Held(page, path)
            page.get_by_role("button", name=name.capitalize(), exact=True).click()
            expect(page.locator(f"main.{name}").get_by_text(LOADING).first).to_be_visible()
            expect(page.get_by_text(empty)).to_have_count(0)
            held.release()
            expect(page.get_by_text(empty)).to_be_visible()
            expect(page.get_by_text(LOADING)).to_have_count(0)
