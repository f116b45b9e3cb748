"""The pages of scenarios: every key of their files, from the models that read them; the ready ones."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from pydantic import BaseModel

from barnabas.experiments.library import FOLDER, names
from barnabas.proxy.faults.respond import Respond
from barnabas.proxy.matching.notation import error_code
from barnabas.proxy.scenario.file import load
from barnabas.proxy.scenario.json_schema import scenario_schema
from barnabas.proxy.scenario.model import Scenario
from barnabas.proxy.scenario.symptoms import SYMPTOMS
from barnabas.specs.error_codes import ERROR_CODES, error_name
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
    by_error: defaultdict[str, list[str]] = defaultdict(list)
    for name in names():
        scenario = load(FOLDER / f"{name}.yaml")
        about = scenario.about
        assert about is not None
        for error in _errors(scenario):
            by_error[error].append(f"[{name}](#{name})")
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
        "## By error",
        f"The scenarios send or cause {len(by_error)} of Kafka's {len(ERROR_CODES) - 1} error codes.",
        table(
            ("error", "scenarios"),
            ((code(error), ", ".join(by_error[error])) for error in sorted(by_error)),
        ),
        *parts,
    )


def _errors(scenario: Scenario) -> set[str]:
    """The errors that rules put into responses, and those that the description names."""
    errors = {each for rule in scenario.rules for fault in rule.do for each in _sent(fault.config)}
    words = re.findall(
        r"\b[A-Z][A-Z_]+\b", "" if scenario.about is None else scenario.about.simulates
    )
    return errors | (_ERRORS & {*words})


def _sent(config: BaseModel) -> Iterator[str]:
    """The errors in a fault's settings."""
    if isinstance(config, Respond) and config.error:
        yield error_name(config.error)
    for value in getattr(config, "field_values", ()):
        if value.path.endswith("error_code") and value.value:
            yield error_name(error_code(value.value))


_ERRORS: Final = frozenset(error.name for error in ERROR_CODES)
