"""The data from which an editor of scenarios completes: the keys at each place, their meaning, their values.

It has as a table what the JSON Schema expresses by references and alternatives.
"""

from __future__ import annotations

from typing import Any, Final

from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.scenario.json_schema import scenario_schema

ROOT: Final = "Scenario"
DO: Final = "do"
"""The place that has a key for each fault."""

Schema = dict[str, Any]


def completion(faults: tuple[Fault, ...] = FAULTS) -> dict[str, Any]:
    """Return `places` (name -> key -> attributes) and `root`, the place of the file's top-level keys.

    A key has `about` (its meaning), `values` (examples), `of` (the place within it) and `listed` (whether it
    holds a list).

    >>> found = completion()
    >>> rule = found["places"][found["places"][found["root"]]["rules"]["of"]]
    >>> list(rule)
    ['name', 'match', 'where', 'record', 'when', 'do']
    """
    schema = scenario_schema(faults)
    definitions: dict[str, Schema] = schema["$defs"]
    places = {ROOT: _keys(schema, definitions)}
    places |= {
        name: _keys(definition, definitions)
        for name, definition in definitions.items()
        if "properties" in definition
    }
    do = definitions["RuleConfig"]["properties"]["do"]
    entry = next(definition for definition in do["anyOf"] if "properties" in definition)
    places[DO] = _keys(entry, definitions)
    places["RuleConfig"]["do"]["of"] = DO
    return {"root": ROOT, "places": places}


def _keys(schema: Schema, definitions: dict[str, Schema]) -> dict[str, Any]:
    return {name: _key(value, definitions) for name, value in schema["properties"].items()}


def _key(schema: Schema, definitions: dict[str, Schema]) -> dict[str, Any]:
    definition = next((name for name in _named(schema) if "properties" in definitions[name]), None)
    description = schema.get("description") or (
        definitions[definition].get("description", "") if definition else ""
    )
    # names of APIs are also listed in lower case
    values = {
        str(value).casefold(): value for value in reversed(list(_values(schema, definitions)))
    }
    return {
        "about": " ".join(description.partition("\n\n")[0].split()),
        "values": [*reversed(values.values())],
        "of": definition,
        "listed": schema.get("type") == "array",
    }


def _named(schema: Schema) -> list[str]:
    """Return the definitions that a value may have."""
    if "$ref" in schema:
        return [schema["$ref"].rpartition("/")[2]]
    return [name for part in _parts(schema) for name in _named(part)]


def _values(schema: Schema, definitions: dict[str, Schema]) -> list[Any]:
    if "$ref" in schema:
        named = definitions[schema["$ref"].rpartition("/")[2]]
        return [] if "properties" in named else _values(named, definitions)
    if "const" in schema:
        return [schema["const"]]
    if schema.get("type") == "boolean":
        return [True, False]
    listed = schema.get("enum") or [
        example for example in schema.get("examples", ()) if not isinstance(example, dict)
    ]
    return [*listed, *(value for part in _parts(schema) for value in _values(part, definitions))]


def _parts(schema: Schema) -> list[Schema]:
    """Return the alternatives, and the elements of a list."""
    return [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())]
