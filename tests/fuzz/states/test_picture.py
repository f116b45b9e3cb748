from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import permutations

from barnabas.fuzz.states.deviations import by_cause, differences_of
from barnabas.fuzz.states.machine import Machine, Step
from barnabas.fuzz.states.picture import Row, rows, svg

LAMP = Machine(
    "a <lamp>",
    ((), ("light",)),
    (
        {"light": Step("NONE", 1), "look": Step("NONE, off", 0), "burn": Step("NONE", 1)},
        {"light": Step("NONE", 1), "look": Step("NONE, on", 1), "burn": Step("NONE", 0)},
    ),
    True,
    7,
)
SVG = "{http://www.w3.org/2000/svg}"


def texts(picture: str) -> list[str | None]:
    return [text.text for text in ET.fromstring(picture).iter(f"{SVG}text")]


def test_a_picture_has_the_states_and_what_leads_from_one_to_another() -> None:
    picture = svg(LAMP, "lamp of a <lamp>", [["OFF", "cold"], ["ON"]])
    assert texts(picture) == [
        "lamp of a <lamp>",
        "0  OFF",
        "cold",
        "light → 1",
        "burn → 1",
        "1  ON",
        "burn → 0",
    ]
    root = ET.fromstring(picture)
    assert [title.text for title in root.iter(f"{SVG}title")] == [
        "0: initial state\nlook: NONE, off",
        "1: light\nlight: NONE\nlook: NONE, on",
    ]
    edges = [path.get("class") for path in root.findall(f"{SVG}path")]
    assert edges == ["f1 t0 back", "f0 t1", "f0 t1"]
    assert picture == svg(LAMP, "lamp of a <lamp>", [["OFF", "cold"], ["ON"]])


def test_a_picture_without_captions_numbers_the_states() -> None:
    assert texts(svg(LAMP, "t"))[1] == "0"
    assert texts(svg(LAMP, "t"))[4] == "1"


def test_no_state_of_a_picture_covers_another_one_or_is_outside() -> None:
    """A state leads to each other one, with labels of different lengths."""
    number = 12
    steps = [
        {f"{'input ' * (state % 4)}{to}": Step("REFUSED", to) for to in range(number)}
        for state in range(number)
    ]
    paths = tuple(("step",) * (state % 3) for state in range(number))
    root = ET.fromstring(svg(Machine("m", paths, tuple(steps), True, 0), "many"))
    boxes = [
        [int(rect.get(name, "")) for name in ("x", "y", "width", "height")]
        for rect in root.iter(f"{SVG}rect")
    ]
    assert len(boxes) == number
    for x, y, width, height in boxes:
        assert x + width <= int(root.get("width", ""))
        assert y + height <= int(root.get("height", ""))
    for (x, y, width, height), (left, top, _, __) in permutations(boxes, 2):
        assert not (x <= left < x + width and y <= top < y + height)
    ends = [path.get("d", "").split()[-2:] for path in root.findall(f"{SVG}path")]
    assert len({tuple(end) for end in ends}) == len(ends) == number * (number - 1)


def test_a_table_has_a_row_for_each_input_of_each_state() -> None:
    table = list(rows(LAMP))
    assert len(table) == 6
    assert table[0] == Row(0, "(initial)", "light", "NONE", 1)
    assert table[4] == Row(1, "light", "look", "NONE, on", 1)


def test_equal_differences_of_several_inputs_are_one_cause() -> None:
    steps = {name: Step("NONE", 0) for name in ("light", "look", "burn")}
    others = {name: Step("REFUSED", 0) for name in ("light", "look")} | {"burn": Step("LATE", 0)}
    first, second = (
        Machine(name, ((),), (each,), True, 0) for name, each in (("A", steps), ("B", others))
    )
    causes = by_cause(differences_of(first, second))
    assert {cause: [each.inputs for each in members] for cause, members in causes.items()} == {
        "NONE from A, REFUSED from B": [("light",), ("look",)],
        "NONE from A, LATE from B": [("burn",)],
    }
