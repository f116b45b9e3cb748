"""An example of a setting, for error messages: its required settings, or its first one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from barnabas.proxy.scenario.yaml_lines import flow

Schema = Mapping[str, Any]


def example(model: type[BaseModel]) -> str:
    """Return an example of a mapping in YAML, according to its JSON Schema.

    >>> from barnabas.proxy.faults.delay import Delay
    >>> from barnabas.proxy.matching.notation import SizeRange
    >>> example(Delay), example(SizeRange)
    ('{by: 200ms}', '{at_least: 1KiB}')
    """
    schema = model.model_json_schema()
    return flow(_value(schema, schema.get("$defs", {}), model.__name__))


def _value(schema: Schema, models: Mapping[str, Schema], name: str) -> Any:
    """Return a value that a schema allows; `name` is the setting's name."""
    match schema:
        case {"$ref": str(reference)}:
            return _value(models[reference.rpartition("/")[2]], models, name)
        case {"examples": [value, *_]} | {"const": value} | {"enum": [value, *_]}:
            return value
        case {"properties": settings}:
            return {option: _value(settings[option], models, option) for option in _needed(schema)}
        case {"anyOf": [option, *_]}:
            return _value(option, models, name)
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
    """Return the settings of an example."""
    alternatives = (schema, *schema.get("oneOf", ()), *schema.get("anyOf", ()))
    return next(
        (
            list(alternative["required"])
            for alternative in alternatives
            if "required" in alternative
        ),
        list(schema["properties"])[:1],
    )
