"""The editor's colours are those of YAML and stay under the text; all that changes the text can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.page.browser import barnabas, page_at
from tests.places import ROOT

pytestmark = [pytest.mark.needs_chromium, pytest.mark.timeout(180)]

COLOURED = """async text => {
  const {colour, START} = await import("/page/yaml_colours.js");
  let state = START;
  return text.split("\\n").map(line => { const [pieces, next] = colour(line, state); state = next; return pieces; });
}"""
LONG = "version: 1\nrules: []\n" + "".join(
    f"# line {number} {'x' * 400}\n" for number in range(300)
)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with (
        barnabas("open", "captures/samples/faults.pcapng", "--no-browser") as ready,
        page_at(ready["page"]) as found,
    ):
        yield found


@pytest.mark.parametrize(
    ("text", "coloured"),
    [
        ("- name: a b # c", "- sign, name key, : sign, a b string, # c comment"),
        ("a: {b: 1.5, 'c': [x, null]}", "a key, : sign, { sign, b key, : sign, 1.5 number, , sign,"
            " 'c' key, : sign, [ sign, x string, , sign, null number, ] sign, } sign"),
        ('w: "a: # \\" b" # c', 'w key, : sign, "a: # \\" b" string, # c comment'),
        ("u: http://x#y:z", "u key, : sign, http://x#y:z string"),
        ("w: 'it''s\n  on' ", "w key, : sign, 'it''s string, on' string"),
        ('w: "a\\\n  b": 1', 'w key, : sign, "a\\ string, b" key, : sign, 1 number'),
        ("t: |\n  a: 1\n\n  # b\nc: 2", "t key, : sign, | sign,   a: 1 string,   # b string, c key, : sign, 2 number"),
        ("a: [1,\n b: 2]\nc: d, e", "a key, : sign, [ sign, 1 number, , sign, b key, : sign, 2 number, ] sign,"
            " c key, : sign, d, e string"),
    ],
)  # fmt: skip
def test_pieces_have_the_colours_of_yaml(page: Page, text: str, coloured: str) -> None:
    lines: Any = page.evaluate(COLOURED, text)
    pieces = [f"{piece} {kind}" for line in lines for kind, piece in line if kind != "space"]
    assert [each.strip() for each in pieces] == [each.strip() for each in coloured.split(", ")] or (
        ", ".join(pieces) == coloured
    )


def test_pieces_are_the_text_and_keys_are_those_of_a_parser(page: Page) -> None:
    files = sorted((ROOT / "tests").glob("samples/*.yaml")) + sorted(ROOT.glob("docs/**/*.yaml"))
    assert files
    for file in files:
        text = file.read_text()
        lines: Any = page.evaluate(COLOURED, text)
        assert "\n".join("".join(piece for _, piece in line) for line in lines) == text
        keys: list[str] = []

        def collect(node: yaml.Node, keys: list[str] = keys) -> None:
            if isinstance(node, yaml.MappingNode):
                for key, value in node.value:
                    keys.append(key.value)
                    collect(value)
            elif isinstance(node, yaml.SequenceNode):
                for value in node.value:
                    collect(value)

        collect(yaml.compose(text))
        found = [piece.strip("'\"") for line in lines for kind, piece in line if kind == "key"]
        assert found == keys, file


def test_colours_stay_under_the_text_wherever_it_is_scrolled(page: Page) -> None:
    page.get_by_role("button", name="Rules", exact=True).click()
    area = page.locator(".editor textarea")
    area.fill(LONG)
    for top, left in ((0, 0), (1803, 700), (99_999, 99_999)):
        page.evaluate(
            "([top, left]) => document.querySelector('.editor textarea').scrollTo(left, top)",
            [top, left],
        )
        page.wait_for_timeout(100)
        line, at = page.evaluate("""() => {
          const {scrollTop, scrollLeft} = document.querySelector(".editor textarea");
          const sheet = document.querySelector(".sheet").getBoundingClientRect();
          const {x, y} = document.querySelector(".paint > div > div:nth-child(4)").getBoundingClientRect();
          const text = document.querySelector(".paint > div > div:nth-child(4)").textContent;
          return [text, [x - sheet.x + scrollLeft, y - sheet.y + scrollTop]];
        }""")
        number = LONG.split("\n").index(line)
        assert at == [pytest.approx(53, abs=1), pytest.approx(7 + 18 * number, abs=1)]


def test_what_is_typed_completed_or_put_back_can_be_undone(page: Page) -> None:
    page.get_by_role("button", name="Rules", exact=True).click()
    area = page.locator(".editor textarea")
    area.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("version: 1\nru")
    page.keyboard.press("Tab")
    completed = "version: 1\nrules:\n- name: "
    expect(area).to_have_value(completed)
    expect(page.locator(".paint .key")).to_have_text(["version", "rules", "name"])
    page.keyboard.press("Control+z")
    expect(area).to_have_value("version: 1\nru")
    expect(page.locator(".paint .string")).to_have_text("ru")
    page.keyboard.press("Control+y")
    expect(area).to_have_value(completed)
    page.get_by_role("button", name="Undo all").click()
    expect(area).not_to_have_value(completed)
    area.focus()
    page.keyboard.press("Control+z")
    expect(area).to_have_value(completed)
