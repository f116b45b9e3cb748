from __future__ import annotations

import xml.etree.ElementTree as ET

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


def test_a_picture_has_the_states_and_what_leads_from_one_to_another() -> None:
    root = ET.fromstring(svg(LAMP, "lamp of a <lamp>"))
    assert len(root.findall(f".//{SVG}circle")) == 2
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts == ["lamp of a <lamp>", "light", "burn", "burn", "0", "1"]
    tooltips = [title.text for title in root.iter(f"{SVG}title")]
    assert tooltips == [
        "light: NONE\nburn: NONE",
        "burn: NONE",
        "0: initial state\nlook: NONE, off",
        "1: light\nlight: NONE\nlook: NONE, on",
    ]
    assert svg(LAMP, "t") == svg(LAMP, "t")


def test_a_long_label_names_some_inputs_and_counts_the_others() -> None:
    steps = {f"input {number}": Step("NONE", 1) for number in range(5)}
    machine = Machine(
        "m", ((), ("input 0",)), (steps, dict.fromkeys(steps, Step("NONE", 1))), True, 0
    )
    texts = [text.text for text in ET.fromstring(svg(machine, "")).iter(f"{SVG}text")]
    assert texts[1:4] == ["input 0", "input 1", "and 3 more"]


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
