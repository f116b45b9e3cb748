"""The table that is made of cells."""

from __future__ import annotations

from barnabas.experiments.clients.table import counts, findings, markdown
from barnabas.experiments.clients.trial import Trial
from tests.experiments.clients.made import cell

CONTROL = Trial(seed=0, raised="", code=0, seconds=1.5, settings="acks 1")
CELLS = [
    cell(scenario="none").model_copy(update={"trials": (CONTROL,)}),
    cell(),
    cell("two@2", word="lost", times=2, why="1 acknowledged, <b>|gone"),
    cell("two@2", "lossy-network", word="not met"),
]


def test_names_and_settings_are_no_markup() -> None:
    asked = CONTROL.model_copy(update={"settings": "[x](y)|`<i>"})
    text = markdown([cell("<b>`@1", "none").model_copy(update={"trials": (asked,)})])
    assert "| scenario | &lt;b>\\`@1 |" in text
    assert "| \\[x\\](y)\\|\\`&lt;i> |" in text


def test_a_rule_that_did_not_fire_is_told_apart_from_one_that_is_about_nothing() -> None:
    ran = cell("two@2", "clock-skew", word="not met").model_copy(update={"trials": (CONTROL,) * 2})
    lines = markdown([*CELLS, ran]).splitlines()
    assert lines[12:14] == [
        "- No client sends a request that these scenarios match: `lossy-network`.",
        "- The clients send matching requests, but no rule fired: `clock-skew` (2 runs).",
    ]


def test_a_row_of_which_only_other_rules_fired_is_shown_with_the_rules_that_did_not() -> None:
    ran = CONTROL.model_copy(update={"fired": 1})
    partly = cell("two@2", "clock-skew", word="not met", why="x", unmatched=("late", "lost"))
    text = markdown([*CELLS, partly.model_copy(update={"trials": (ran,)})])
    assert "| clock-skew |  | rule never matched (others did) |" in text
    assert "rule never matched (others did): x; never matched: rule 'late', 'lost'" in text
    unfired = cell("two@2", "clock-skew", word="not met", of=0, why="x", unmatched=("late",))
    assert "## Why" not in markdown([*CELLS[:2], unfired])


def test_a_row_a_scenario_and_a_column_a_client() -> None:
    lines = markdown(CELLS).splitlines()
    assert lines[:13] == [
        "## produce",
        "",
        "A producer sends records, with the library's defaults. Brokers: apache:4.3.1.",
        "",
        "| scenario | one@1 | two@2 |",
        "|---|---|---|",
        "| *asked with* | acks 1 |  |",
        "| none | as expected |  |",
        "| slow-broker | as expected | unexpected, unstable: lost 2 of 3 |",
        "",
        "Not in the table:",
        "",
        "- No client sends a request that these scenarios match: `lossy-network`.",
    ]
    assert lines[-1] == (
        "- two@2/produce/slow-broker: unexpected, unstable: lost 2 of 3: 1 acknowledged, &lt;b>\\|gone"
    )


def test_who_could_not_do_anything_is_a_sentence_and_no_column() -> None:
    cells = [
        cell("can't@3", name, word="not run", why="this library does not offer it")
        for name in ("slow-broker", "lossy-network")
    ]
    lines = markdown([*CELLS, *cells]).splitlines()
    assert "| scenario | one@1 | two@2 |" in lines
    assert "| none | as expected |  |" in lines
    assert "- Not run, because this library does not offer it: can't@3." in lines


def test_what_is_counted_and_what_is_found() -> None:
    assert counts(CELLS) == {"as expected": 1, "lost": 1, "rule never matched": 1}
    assert counts(CELLS[:1]) == {"as expected": 1}
    assert counts([cell(word="fails"), cell(word="fails", promised=False)]) == {
        "fails": 1,
        "expected failure": 1,
    }
    assert findings(CELLS) == [CELLS[2]]
    assert findings([cell(word="duplicates", promised=False), cell(word="not run")]) == []
    control = cell("one@1", "none", word="lost", why="without any fault: 1 missing")
    assert findings([*CELLS, control]) == [control, CELLS[2]]
    assert "| none | unexpected: lost |" in markdown([control, cell(word="not run")])
    slow = cell(word="slow")
    assert findings([slow, cell(word="slow", busy=True)]) == [slow]
