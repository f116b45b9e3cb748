"""The JSON Schema of scenario files, for editors that complete and check.

It is made from the models that read the files. It cannot refuse what depends on an API's versions: a field in
`where`, a version that does not exist.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.matching.match import Match, Until
from barnabas.proxy.matching.notation import api_schema, one_or_more
from barnabas.proxy.scenario.model import RuleConfig, Scenario
from barnabas.proxy.scenario.planned_faults import alone
from barnabas.specs.dialects import dialects, names

SCHEMA = "https://json-schema.org/draft/2020-12/schema"
"""The dialect of JSON Schema."""


def scenario_schema(faults: tuple[Fault, ...] = FAULTS) -> dict[str, Any]:
    """Return the schema of scenario files, draft 2020-12.

    It knows an API's name as Kafka writes it and in lower case.
    """
    models: list[type[BaseModel]] = [Scenario, *(model for _, model, *_ in faults)]
    references, shared = models_json_schema([(model, "validation") for model in models])
    definitions: dict[str, Any] = shared["$defs"]
    settings = {}
    for name, model, *_ in faults:
        reference = references[model, "validation"]
        settings[name] = _settings(reference, definitions[_name(reference)], model)
    bare = {
        "enum": [name for name, forms in settings.items() if {"type": "null"} in forms["anyOf"]]
    }
    entry = {
        "type": "object",
        "properties": settings,
        "additionalProperties": False,
        "minProperties": 1,
    }
    item = {"anyOf": [bare, entry]}
    for model in (Match, Until):  # the long list of names once
        definitions[model.__name__]["properties"]["api"] |= one_or_more({"$ref": "#/$defs/Api"})
    definitions["Api"] = api_schema(api.name for each in dialects() for api in each.apis)
    definitions.pop("BaseModel", None)  # the type of the parsed `do`, not of its notation
    do = definitions[RuleConfig.__name__]["properties"]["do"]
    do["anyOf"] = [bare, entry, {"type": "array", "items": item, "minItems": 1}]
    scenario = definitions.pop(_name(references[Scenario, "validation"]))
    scenario["properties"]["dialect"]["examples"] = names()
    return {"$schema": SCHEMA, **scenario, "$defs": definitions}


def _settings(
    reference: dict[str, Any], schema: dict[str, Any], model: type[BaseModel]
) -> dict[str, Any]:
    """Return the schema of a fault's value: its settings, its only required one, or null."""
    forms = [reference]
    short = alone(model)
    if short is not None:
        only = schema["properties"][short]
        forms += [form for form in only.get("anyOf", [only]) if form.get("type") == "string"]
    if not schema.keys() & {"required", "oneOf", "anyOf"}:
        forms.append({"type": "null"})
    return {"anyOf": forms}


def _name(reference: dict[str, Any]) -> str:
    return str(reference["$ref"]).rpartition("/")[2]
