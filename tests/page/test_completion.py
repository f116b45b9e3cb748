"""What the page's editor offers at a caret, by its own module in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from barnabas.proxy.scenario.completion import completion
from tests.page.browser import barnabas, page_at

pytestmark = [pytest.mark.needs_chromium, pytest.mark.timeout(180)]

OFFERED = """async ([schema, text]) => {
  const {completion} = await import("/page/completion.js"), caret = text.indexOf("|");
  const {options, word, eager} = completion(schema, text.replace("|", ""), caret);
  const put = ({insert, back}) => {
    const made = insert.slice(0, insert.length - back) + "|" + insert.slice(insert.length - back);
    return text.slice(0, caret - word.length) + made + text.slice(caret + 1);
  };
  return {labels: options.map(each => each.label), first: options.length ? put(options[0]) : null, eager};
}"""


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with (
        barnabas("open", "captures/samples/faults.pcapng", "--no-browser") as ready,
        page_at(ready["page"]) as found,
    ):
        yield found


RULE = "version: 1\nrules:\n- name: a\n"


@pytest.mark.parametrize(
    ("text", "labels", "first"),
    [
        ("ve|", ["version"], "version: |"),
        ("ru|", ["rules"], "rules:\n- name: |"),
        ("version: |", ["1"], "version: 1|"),
        ("rules:\n- |", ["name", "match", "where", "record", "when", "do"], "rules:\n- name: |"),
        (f"{RULE}  ma|", ["match"], f"{RULE}  match: {{|}}"),
        (f"{RULE}  match:\n    dir|", ["direction"], f"{RULE}  match:\n    direction: |"),
        (f"{RULE}  match: {{dir|}}", ["direction"], f"{RULE}  match: {{direction: |}}"),
        (f"{RULE}  match: {{api: x,\n    dir|", ["direction"], None),
        (f"{RULE}  match: {{api: [Fetch, heartb|]}}", ["Heartbeat"], None),
        (f"{RULE}  match:\n    api:\n    - heartb|", ["Heartbeat"], None),
        (f"{RULE}  match: {{direction: |}}", ["request", "response"], None),
        (f"{RULE}  match: {{error: not_coo|}}", ["NOT_COORDINATOR"], None),
        (f"{RULE}  when: {{after: {{ru|}}}}", ["rule"], None),
        (f"{RULE}  when: {{after: {{rule: |}}}}", ["a"], None),
        (f"{RULE}  when: {{phases: [{{la|}}]}}", ["lasts"], None),
        (f"{RULE}  do: dela|", ["delay"], f"{RULE}  do: {{delay: |}}"),
        (f"{RULE}  do: clos|", ["close"], f"{RULE}  do: close|"),
        (f"{RULE}  do: {{dela|}}", ["delay"], f"{RULE}  do: {{delay: |}}"),
        (f"{RULE}  do: {{delay: |}}", ["200ms", "by", "jitter", "distribution"], None),
        (f"{RULE}  do: {{hold: {{same: cl|}}}}", ["client"], None),
        (f"{RULE}  do:\n  - hold:\n      unt|", ["until"], None),
        (f"{RULE}  do:\n  - hold: {{until: {{gro|}}}}", ["group"], None),
        (f"{RULE}  # ma|", [], None),
        (f'{RULE}  where: "grou|"', [], None),
        (f"{RULE}  m|atch: x", [], None),
        (f"{RULE}  nope: {{a: |}}", [], None),
    ],
)
def test_what_can_stand_there(page: Page, text: str, labels: list[str], first: str | None) -> None:
    found: Any = page.evaluate(OFFERED, [completion(), text])
    assert found["labels"] == labels
    if first is not None:
        assert found["first"] == first


def test_a_blank_line_is_left_alone_unless_it_is_asked_about(page: Page) -> None:
    found: Any = page.evaluate(OFFERED, [completion(), f"{RULE}  |"])
    assert found["labels"] == ["name", "match", "where", "record", "when", "do"]
    assert not found["eager"]


def test_a_capture_has_its_scenario_and_nothing_to_apply_it_to(page: Page) -> None:
    page.get_by_role("button", name="Rules", exact=True).click()
    page.locator(".editor textarea").wait_for()
    assert "version: 1" in page.locator(".editor textarea").input_value()
    page.locator("th:has-text('tried on the last 53')").wait_for()
    assert page.get_by_role("button", name="Apply").count() == 0
    assert page.locator(".hand").count() == 0
