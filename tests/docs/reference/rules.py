"""The page of scenario files: every key, from the models that read them."""

from __future__ import annotations

from typing import Final

from barnabas.proxy.scenario.json_schema import scenario_schema
from tests.docs.reference.markdown import page, prose, settings

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
