"""Scenario files as JSON Schema, for editors that complete and check while one writes.

It is made from the same models that read the files. What only a look at the API's versions can tell
(a field in `where`, a version that does not exist) it can't refuse.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.matching.match import Match, Until
from barnabas.proxy.matching.notation import api_schema, one_or_more
from barnabas.proxy.scenario.model import RuleConfig, Scenario
from barnabas.proxy.scenario.planned import alone
from barnabas.specs.dialects import dialects, names

SCHEMA = "https://json-schema.org/draft/2020-12/schema"
"""The dialect."""


def scenario_schema(faults: tuple[Fault, ...] = FAULTS) -> dict[str, Any]:
    """The schema of scenario files, draft 2020-12.

    An API's name is known as Kafka writes it and in small letters.
    """
    models: list[type[BaseModel]] = [Scenario, *(model for _, model, *_ in faults)]
    places, shared = models_json_schema([(model, "validation") for model in models])
    definitions: dict[str, Any] = shared["$defs"]
    settings = {}
    for name, model, *_ in faults:
        place = places[model, "validation"]
        settings[name] = _settings(place, definitions[_name(place)], model)
    bare = {
        "enum": [name for name, forms in settings.items() if {"type": "null"} in forms["anyOf"]]
    }
    entry = {
        "type": "object",
        "properties": settings,
        "additionalProperties": False,
        "minProperties": 1,
    }
    one = {"anyOf": [bare, entry]}
    for model in (Match, Until):  # the long list of names once
        definitions[model.__name__]["properties"]["api"] |= one_or_more({"$ref": "#/$defs/Api"})
    definitions["Api"] = api_schema(api.name for each in dialects() for api in each.apis)
    definitions.pop("BaseModel", None)  # what `do` becomes, not what it is written as
    do = definitions[RuleConfig.__name__]["properties"]["do"]
    do["anyOf"] = [bare, entry, {"type": "array", "items": one, "minItems": 1}]
    scenario = definitions.pop(_name(places[Scenario, "validation"]))
    scenario["properties"]["dialect"]["examples"] = names()
    return {"$schema": SCHEMA, **scenario, "$defs": definitions}


def _settings(
    place: dict[str, Any], schema: dict[str, Any], model: type[BaseModel]
) -> dict[str, Any]:
    """What stands behind a fault's name: its settings, the only one it needs, nothing if it needs none."""
    forms = [place]
    short = alone(model)
    if short is not None:
        only = schema["properties"][short]
        forms += [form for form in only.get("anyOf", [only]) if form.get("type") == "string"]
    if not schema.keys() & {"required", "oneOf", "anyOf"}:
        forms.append({"type": "null"})
    return {"anyOf": forms}


def _name(place: dict[str, Any]) -> str:
    return str(place["$ref"]).rpartition("/")[2]
