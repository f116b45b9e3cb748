"""The editor's colours are those of YAML and stay under the text; all that changes the text can be undone."""

from __future__ import annotations

import re
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
  return text.split("\\n").map(line => {
    const [pieces, next] = colour(line, state);
    state = next;
    return pieces;
  });
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
        ("- name: a b # c", "s- kname s: ta b c# c"),
        ("a: {b: 1.5, 'c': [x, null]}", "ka s: s{ kb s: n1.5 s, k'c' s: s[ tx s, nnull s] s}"),
        ('w: "a: # \\" b" # c', 'kw s: t"a: # \\" b" c# c'),
        ("u: http://x#y:z", "ku s: thttp://x#y:z"),
        ("w: 'it''s\n  on' ", "kw s: t'it''s t  on'"),
        ('w: "a\\\n  b": 1', 'kw s: t"a\\ k  b" s: n1'),
        ("t: |\n  a: 1\n\n  # b\nc: 2", "kt s: s| t  a: 1 t  # b kc s: n2"),
        ("a: [1,\n b: 2]\nc: d, e", "ka s: s[ n1 s, kb s: n2 s] kc s: td, e"),
        ("- - a\n- b:c\n-d", "s- s- ta s- tb:c t-d"),
    ],
)
def test_pieces_have_the_colours_of_yaml(page: Page, text: str, coloured: str) -> None:
    """Each piece stands behind a letter: key, text, number, sign, comment."""
    letters = {"key": "k", "string": "t", "number": "n", "sign": "s", "comment": "c"}
    lines: Any = page.evaluate(COLOURED, text)
    pieces = [(kind, piece) for line in lines for kind, piece in line if kind != "space"]
    assert " ".join(letters[kind] + piece for kind, piece in pieces) == coloured


def test_pieces_are_the_text_and_keys_are_those_of_a_parser(page: Page) -> None:
    texts = [(ROOT / "tests/samples/faults.yaml").read_text()]
    for file in sorted(ROOT.glob("docs/howto/*.md")):
        texts += re.findall(r"^```yaml\n(.*?)^```", file.read_text(), re.DOTALL | re.MULTILINE)
    assert len(texts) > 10
    for text in texts:
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

        root = yaml.compose(text)
        assert root
        collect(root)
        found = [piece.strip("'\"") for line in lines for kind, piece in line if kind == "key"]
        assert found == keys, text


def test_colours_stay_under_the_text_wherever_it_is_scrolled(page: Page) -> None:
    page.get_by_role("button", name="Rules", exact=True).click()
    area = page.locator(".editor textarea")
    area.fill(LONG)
    for top, left in ((0, 0), (1803, 700), (99_999, 99_999)):
        page.evaluate(
            "([top, left]) => document.querySelector('.editor textarea').scrollTo(left, top)",
            [top, left],
        )
        line, at = page.evaluate("""async () => {
          const {scrollTop, scrollLeft, value} = document.querySelector(".editor textarea");
          const fourth = value.split("\\n")[Math.max(0, Math.floor(scrollTop / 18) - 2) + 3];
          const painted = () => document.querySelector(".paint > div > div:nth-child(4)");
          for (let frame = 0; frame < 600 && painted().textContent !== fourth; frame++)
            await new Promise(requestAnimationFrame);
          const sheet = document.querySelector(".sheet").getBoundingClientRect();
          const {x, y} = painted().getBoundingClientRect();
          return [painted().textContent, [x - sheet.x + scrollLeft, y - sheet.y + scrollTop]];
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
