"""The page of a report in a real browser, on a telephone."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.fuzz.report.page import page
from barnabas.fuzz.report.summary import Summary
from tests.fuzz.report.test_reports import found
from tests.page.browser import axe, page_at

__all__ = ["found"]


@pytest.mark.needs_chromium
def test_nothing_is_wider_than_a_telephone(found: list[Summary], tmp_path: Path) -> None:
    file = tmp_path / "findings.html"
    file.write_text(page(found))
    with page_at(file.as_uri(), width=420) as shown:
        shown.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert shown.evaluate("document.documentElement.scrollWidth") == 420
        assert shown.locator("details").count() == 3
        assert axe(shown) == []
