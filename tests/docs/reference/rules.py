"""The pages of scenarios: every key of their files, from the models that read them; the ready ones."""

from __future__ import annotations

from typing import Final

from barnabas.experiments.library import FOLDER, names
from barnabas.proxy.scenario.file import load
from barnabas.proxy.scenario.json_schema import scenario_schema
from barnabas.proxy.scenario.symptoms import SYMPTOMS
from tests.docs.reference.markdown import block, code, page, prose, settings, table

_MODELS: Final = (
    ("A rule", "RuleConfig"),
    ("match", "Match"),
    ("match: size", "SizeRange"),
    ("when", "When"),
    ("when: after, until", "Point"),
    ("when: phases", "Phase"),
    ("about", "About"),
)


def rules() -> str:
    """The page."""
    schema = scenario_schema()
    known = schema["$defs"]
    del known["RuleConfig"]["properties"]["do"]["anyOf"]  # the page of faults has it
    known["RuleConfig"]["properties"]["do"]["type"] = "fault"
    parts = [settings(schema)]
    for title, name in _MODELS:
        model = {**known[name], "$defs": known}
        about = prose(model.get("description", "").partition("\n\n")[0])
        parts += [f"## {title}", about, settings(model)]
    return page(
        "Rules",
        "A scenario is a YAML file with these keys. [Break a client](../howto/rules.md) shows how they work "
        "together, [Faults](faults.md) what `do` may name. `barnabas scenario schema` prints the JSON "
        "Schema.",
        *parts,
    )


def scenarios() -> str:
    """The page of ready scenarios: what each simulates, what a healthy client does, what it needs."""
    parts = []
    by_symptom: dict[str, list[str]] = {symptom: [] for symptom in SYMPTOMS}
    for name in names():
        about = load(FOLDER / f"{name}.yaml").about
        assert about is not None
        for symptom in about.symptoms:
            by_symptom[symptom].append(f"[{name}](#{name})")
        parts += [
            f"## {name}",
            prose(about.simulates),
            f"**A healthy client:** {prose(about.healthy)}",
            f"**Needs:** {prose(about.needs)}" if about.needs else "",
        ]
    return page(
        "Ready scenarios",
        "`barnabas proxy --scenario NAME` runs one, `barnabas scenario show NAME` prints it to copy from. "
        "Each was run with real clients; the text about a client is what was observed. If one broker is slow "
        "or has stale data, that is broker 1. `barnabas scenario list --symptom duplicates` lists the "
        "scenarios that cause a symptom in a client that does not cope.",
        block(
            "barnabas scenario show slow-broker > mine.yaml\nbarnabas proxy -b "
            "localhost:9092 --scenario mine.yaml",
            "sh",
        ),
        "## By symptom",
        table(
            ("symptom", "what you see", "scenarios"),
            (
                (code(symptom), meaning, ", ".join(by_symptom[symptom]))
                for symptom, meaning in SYMPTOMS.items()
            ),
        ),
        *parts,
    )
