"""`barnabas scenario list`: the ready scenarios and what they simulate."""

from __future__ import annotations

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.terminal import Terminal, plain_table
from barnabas.experiments.library import FOLDER, names
from barnabas.nearest import choices
from barnabas.proxy.scenario.file import Scenario, load
from barnabas.proxy.scenario.symptoms import SYMPTOMS
from barnabas.trouble import Trouble


def listing(symptom: str | None, *, as_json: bool = False) -> None:
    """Print the ready scenarios: a table, or a line of JSON each (name, rules, and the keys of `about`).

    Args:
        symptom: print only the scenarios that have it.
        as_json: print JSON lines.

    Raises:
        Trouble: the symptom is unknown.
    """
    if symptom is not None and symptom not in SYMPTOMS:
        raise Trouble(f"--symptom {symptom}: unknown{choices(symptom, SYMPTOMS)}")
    scenarios = {name: load(FOLDER / f"{name}.yaml") for name in names()}
    scenarios = {
        name: scenario
        for name, scenario in scenarios.items()
        if symptom is None or (scenario.about and symptom in scenario.about.symptoms)
    }
    if as_json:
        for name, scenario in scenarios.items():
            print(json_text(_row(name, scenario)))
        return
    title = "what it simulates (what a healthy client does: barnabas scenario show NAME)"
    table = plain_table("name", title, unbroken=("name",))
    table.padding = (0, 2, 1, 0)
    for name, scenario in scenarios.items():
        if scenario.about is not None:
            table.add_row(name, scenario.about.simulates.strip())
    Terminal().show_table(table)


def _row(name: str, scenario: Scenario) -> dict[str, object]:
    description = {} if scenario.about is None else scenario.about.model_dump()
    return {"name": name, "rules": [rule.name for rule in scenario.rules], **description}
