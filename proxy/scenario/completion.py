"""What an editor of scenarios completes from: which keys stand where, what each is, which values it takes.

It says in a table what the JSON Schema says by references and alternatives.
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
    """`places`: name -> key -> `about` (what it is), `values` (some that it takes), `of` (the place within
    it), `listed` (whether there are several in a list); `root`: the place of the file's own keys.

    >>> found = completion()
    >>> rule = found["places"][found["places"][found["root"]]["rules"]["of"]]
    >>> list(rule)
    ['name', 'match', 'where', 'record', 'when', 'do']
    """
    schema = scenario_schema(faults)
    known: dict[str, Schema] = schema["$defs"]
    places = {ROOT: _keys(schema, known)}
    places |= {name: _keys(one, known) for name, one in known.items() if "properties" in one}
    do = known["RuleConfig"]["properties"]["do"]
    entry = next(one for one in do["anyOf"] if "properties" in one)
    places[DO] = _keys(entry, known)
    places["RuleConfig"]["do"]["of"] = DO
    return {"root": ROOT, "places": places}


def _keys(schema: Schema, known: dict[str, Schema]) -> dict[str, Any]:
    return {name: _key(one, known) for name, one in schema["properties"].items()}


def _key(schema: Schema, known: dict[str, Schema]) -> dict[str, Any]:
    place = next((name for name in _named(schema) if "properties" in known[name]), None)
    about = schema.get("description") or (known[place].get("description", "") if place else "")
    # names of APIs are there in small letters, too
    values = {str(value).casefold(): value for value in reversed(list(_values(schema, known)))}
    return {
        "about": " ".join(about.partition("\n\n")[0].split()),
        "values": [*reversed(values.values())],
        "of": place,
        "listed": schema.get("type") == "array",
    }


def _named(schema: Schema) -> list[str]:
    """The definitions that a value may be of."""
    if "$ref" in schema:
        return [schema["$ref"].rpartition("/")[2]]
    return [name for part in _parts(schema) for name in _named(part)]


def _values(schema: Schema, known: dict[str, Schema]) -> list[Any]:
    if "$ref" in schema:
        named = known[schema["$ref"].rpartition("/")[2]]
        return [] if "properties" in named else _values(named, known)
    if "const" in schema:
        return [schema["const"]]
    if schema.get("type") == "boolean":
        return [True, False]
    own = schema.get("enum") or [
        one for one in schema.get("examples", ()) if not isinstance(one, dict)
    ]
    return [*own, *(value for part in _parts(schema) for value in _values(part, known))]


def _parts(schema: Schema) -> list[Schema]:
    """The alternatives, and the elements of a list."""
    return [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())]
