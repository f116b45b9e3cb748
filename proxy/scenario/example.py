"""An example of a mapping, for whoever wrote something else: what it needs, or its first setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

Schema = Mapping[str, Any]


def example(model: type[BaseModel]) -> str:
    """How a mapping may be written, by its JSON Schema.

    >>> from barnabas.proxy.faults.delay import Delay
    >>> from barnabas.proxy.matching.notation import SizeRange
    >>> example(Delay), example(SizeRange)
    ('{by: 200ms}', '{at_least: 1KiB}')
    """
    schema = model.model_json_schema()
    return _flow(_value(schema, schema.get("$defs", {}), model.__name__))


def _value(schema: Schema, models: Mapping[str, Schema], name: str) -> Any:
    """A value that a schema allows; name: of the setting."""
    match schema:
        case {"$ref": str(place)}:
            return _value(models[place.rpartition("/")[2]], models, name)
        case {"examples": [value, *_]} | {"const": value} | {"enum": [value, *_]}:
            return value
        case {"properties": settings}:
            return {one: _value(settings[one], models, one) for one in _needed(schema)}
        case {"anyOf": [one, *_]}:
            return _value(one, models, name)
        case {"type": "array"}:
            return [_value(schema.get("items", {}), models, name)]
        case {"type": "integer" | "number" as kind}:
            return schema.get("minimum", 1) if kind == "integer" else 0.5
        case {"type": "boolean"}:
            return True
        case {"type": "object"}:
            return {}
    return name.upper()


def _needed(schema: Schema) -> list[str]:
    """The settings of an example."""
    ways = (schema, *schema.get("oneOf", ()), *schema.get("anyOf", ()))
    return next(
        (list(way["required"]) for way in ways if "required" in way), list(schema["properties"])[:1]
    )


def _flow(value: Any) -> str:
    """YAML on one line.

    >>> _flow({"api": "Fetch", "size": {"at_least": "1KiB"}, "acks": [0], "restore": True})
    '{api: Fetch, size: {at_least: 1KiB}, acks: [0], restore: true}'
    """
    match value:
        case dict():
            return f"{{{', '.join(f'{key}: {_flow(one)}' for key, one in value.items())}}}"
        case list():
            return f"[{', '.join(map(_flow, value))}]"
        case bool():
            return str(value).lower()
    return str(value)
