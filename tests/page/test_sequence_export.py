"""The sequence is saved as a picture and as text of Mermaid, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from tests.page.browser import barnabas, page_at

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.needs_chromium, pytest.mark.timeout(180)]

SVG = "{http://www.w3.org/2000/svg}"

MERMAID = """async rows => (await import('/page/sequence_mermaid.js')).mermaid(rows)"""


def saved(page: Page, button: str) -> tuple[str, str]:
    """The name and the text of a file."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button, exact=True).click()
    download = waiting.value
    return download.suggested_filename, Path(download.path()).read_text()


def test_the_drawing_and_the_messages_are_files() -> None:
    with (
        barnabas("open", "captures/samples/faults.pcapng") as ready,
        page_at(ready["page"], "dark", view="sequence") as page,
    ):
        page.get_by_label("Show").select_option("all")
        page.get_by_text("104 messages").wait_for()
        name, text = saved(page, "SVG")
        shown = page.locator(".message").count()
        labels = page.locator(".chart text").all_text_contents()
        assert name == "sequence.svg"
        drawing = ET.fromstring(text)
        assert [each.text for each in drawing.iter(SVG + "text")] == labels
        titles = [each.text or "" for each in drawing.iter(SVG + "title")]
        assert len([title for title in titles if "correlation id" in title]) == shown
        assert not [part for part in ("var(", "class=", "currentColor") if part in text]
        ground = drawing.find(SVG + "rect")
        assert ground is not None
        assert ground.get("fill") == "rgb(25, 29, 35)"  # dark, as it is shown
        strokes = {each.get("stroke") for each in drawing.iter(SVG + "path")}
        assert {"rgb(130, 180, 255)", "rgb(111, 207, 151)", "rgb(240, 182, 79)"} <= strokes
        assert page.locator(".stage").count() == 0

        page.get_by_role("button", name="By step").click()
        _, text = saved(page, "SVG")
        every = [each.text or "" for each in ET.fromstring(text).iter(SVG + "title")]
        assert len([title for title in every if "correlation id" in title]) == 104  # all rows

        name, text = saved(page, "Mermaid")
        assert name == "sequence.mmd"
        lines = text.splitlines()
        assert lines[:4] == [
            "sequenceDiagram",
            "  participant client1 as reader",
            "  participant client2 as writer",
            "  participant barnabas",
        ]
        cut = lines.index("  broker4--xbarnabas: Fetch v16 (4)")
        assert lines[cut + 1].startswith("  Note over barnabas: rules: the connection is cut")
        late = lines.index("  Note over barnabas: 100 ms in barnabas, rules: a commit is overtaken")
        assert lines[late + 1] == "  barnabas->>broker3: OffsetCommit v9 (9)"
        assert "  Note over barnabas: Fetch v16 (8): no response: connection closed" in lines
        answered = lines.index("  client2-xbarnabas: Produce v10 (3)")
        assert lines[answered + 1 : answered + 4] == [
            "  Note over barnabas: rules: the leader is busy, answered by the proxy",
            "  Note over barnabas: made by the proxy",
            "  barnabas-->>client2: Produce v10 (3) NOT_ENOUGH_REPLICAS",
        ]

        # names from the wire are no syntax
        row = {"number": 1, "direction": "request", "api": "Fetch", "version": 1, "rules": []}
        row |= {"correlation_id": 7, "came": 1, "gone": 1, "arrived": "1", "left": "1", "note": ""}
        row |= {"client": "a;b#1\n%<", "broker": "broker 1", "reason": "", "start": 1, "end": 2}
        text = page.evaluate(MERMAID, [row])
        assert text.splitlines()[1] == "  participant client1 as a#59;b#35;1\\u000a#37;#lt;"


def test_a_capture_of_one_side_has_no_proxy() -> None:
    with (
        barnabas("open", "captures/samples/wrong.pcap") as ready,
        page_at(ready["page"], view="sequence") as page,
    ):
        page.get_by_label("Show").select_option("all")
        page.get_by_text("75 messages").wait_for()
        _, text = saved(page, "Mermaid")
        assert "barnabas" not in text
        assert text.count("->>") == 75
