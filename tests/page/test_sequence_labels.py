"""Labels of the sequence cross no line of a message and no other label, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.page.browser import barnabas, page_at

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.needs_chromium, pytest.mark.timeout(180)]

CROSSINGS: Final = """() => {
  const texts = [...document.querySelectorAll('.message text')];
  const boxes = texts.map(text => [text.textContent, text.getBBox()]);
  const within = ({x, y}, box) =>
    x > box.x && x < box.x + box.width && y > box.y + 1 && y < box.y + box.height - 1;
  const overlap = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width
    && a.y < b.y + b.height - 1 && b.y < a.y + a.height - 1;
  const crossed = [];
  for (const line of document.querySelectorAll('.message path:not(.hit)')) {
    const length = line.getTotalLength();
    for (let at = 0; at <= length; at += 4) {
      const point = line.getPointAtLength(at);
      for (const [text, box] of boxes) if (within(point, box)) crossed.push(`${text} crosses a line`);
    }
  }
  boxes.forEach(([text, box], at) => boxes.slice(at + 1).forEach(([other, next]) => {
    if (overlap(box, next)) crossed.push(`${text} covers ${other}`);
  }));
  const messages = document.querySelectorAll('.message').length;
  return {crossed: [...new Set(crossed)], labels: boxes.length, messages};
}"""

MEETS: Final = """async lines => {
  const {meets} = await import('/page/sequence_labels.js');
  return lines.map(line => meets(line, {x: 10, y: 10, width: 20, height: 10}));
}"""

PLACE: Final = """async ([lines, labels]) => {
  const {place} = await import('/page/sequence_labels.js');
  return place(lines, labels, {left: 0, right: 200, top: 0, bottom: 100});
}"""


def crossings(page: Page) -> dict[str, Any]:
    result: dict[str, Any] = page.evaluate(CROSSINGS)
    return result


@pytest.mark.parametrize("width", [1400, 420])
@pytest.mark.parametrize(
    "name", ["faults.pcapng", "wrong.pcap", "rebalance.pcap.gz", "transactions.pcapng"]
)
def test_no_label_crosses_a_line_or_another_label(name: str, width: int) -> None:
    with (
        barnabas("open", f"captures/samples/{name}") as ready,
        page_at(ready["page"] + "&view=sequence", width=width) as page,
    ):
        page.locator(".message").first.wait_for(state="attached")
        first = crossings(page)
        assert first["crossed"] == []
        assert first["labels"]
        page.get_by_role("button", name="By step").click()
        by_step = crossings(page)
        assert by_step["crossed"] == []
        assert by_step["labels"] >= by_step["messages"] * 0.9  # all but those at the edge
        page.get_by_label("Show").select_option("all")
        page.locator(".message").nth(20).wait_for(state="attached")
        assert crossings(page)["crossed"] == []
        page.get_by_role("button", name="To scale").click()
        to_scale = crossings(page)
        assert to_scale["crossed"] == []
        assert to_scale["labels"] >= (5 if width > 1000 else 1)


def test_where_lines_and_labels_meet() -> None:
    with (
        barnabas("open", "captures/samples/faults.pcapng") as ready,
        page_at(ready["page"]) as page,
    ):
        lines = {
            (0, 15, 50, 15): True,  # through it
            (15, 15, 16, 16): True,  # inside of it
            (0, 8, 50, 8): False,  # above it
            (0, 9.5, 50, 9.5): True,  # too close
            (0, 30, 40, 0): True,  # a slope through it
            (0, 40, 60, 25): False,  # a slope below it
            (35, 0, 35, 50): False,  # right of it
            (0, 15, 9, 15): False,  # it ends before it
        }
        assert page.evaluate(MEETS, list(lines)) == list(lines.values())

        # the second spot is free, for the next label there is none, and bounds hold
        spots = [{"x": 10, "y": 10}, {"x": 10, "y": 40}]
        beyond = [{"x": 190, "y": 10}, {"x": 10, "y": 95}, {"x": -1, "y": 60}]
        labels = [{"width": 30, "spots": each} for each in (spots, spots, beyond)]
        placed = page.evaluate(PLACE, [[[0, 15, 200, 15]], labels])
        assert placed == [{"x": 10, "y": 40, "width": 30, "height": 12}, None, None]

        # the label of what is chosen is there in any case, and the others make room
        chosen = {"width": 30, "spots": spots[:1], "must": True}
        near = {"width": 30, "spots": [{"x": 20, "y": 17}, spots[1]]}
        placed = page.evaluate(PLACE, [[[0, 15, 200, 15]], [chosen, near]])
        assert [(each["x"], each["y"]) for each in placed] == [(10, 10), (10, 40)]
