"""Pieces of Markdown that MkDocs, Zensical and GitHub read alike."""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Any


def page(title: str, *parts: str) -> str:
    """A page: its title, where it comes from, and the parts that are not empty."""
    origin = "<!-- Written by `make docs` from the code: change the code, not this file. -->"
    return "\n\n".join((f"# {title}", origin, *(part.strip("\n") for part in parts if part))) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "&#124;")


def code(text: object) -> str:
    """Code within a line; in HTML if it has what Markdown or its tables would read.

    >>> code("--filter"), code("N|max"), code("")
    ('`--filter`', '<code>N&#124;max</code>', '')
    """
    said = str(text)
    if "|" in said or "`" in said:
        return f"<code>{html.escape(said, quote=False).replace('|', '&#124;')}</code>"
    return f"`{said}`" if said else ""


def block(text: str, language: str = "") -> str:
    """Code in lines of its own."""
    return f"```{language}\n{text.strip()}\n```"


def prose(text: str | None) -> str:
    """Text of docstrings and help in one paragraph: what is not code has no HTML and no emphasis.

    >>> prose("A `<b>` is\\nno <b> of *ours*.")
    'A `<b>` is no &lt;b&gt; of \\\\*ours\\\\*.'
    """
    parts = re.split(r"(`[^`]+`)", " ".join(inspect.cleandoc(text or "").split()))
    parts[::2] = [html.escape(part, quote=False).replace("*", r"\*") for part in parts[::2]]
    return "".join(parts)


def kind(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """What a setting takes, of its JSON Schema, in a word or the words that it may be."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return "API" if name == "Api" else kind(definitions.get(name, {}), definitions) or name
    if "const" in schema:
        return code(str(schema["const"]).lower())
    if "enum" in schema:
        return ", ".join(map(code, schema["enum"])) if len(schema["enum"]) < 10 else "API"
    if "anyOf" in schema:
        found = (kind(one, definitions) for one in schema["anyOf"] if one.get("type") != "null")
        return " or ".join(dict.fromkeys(found))
    pattern = str(schema.get("pattern", ""))
    if "ms|" in pattern:
        return "time"
    if "KiB" in pattern:
        return "size"
    found = schema.get("type", "any value")
    if found == "array":
        return f"list of {kind(schema.get('items', {}), definitions)}"
    words = {"object": "mapping", "string": "text", "boolean": "true or false"}
    return words.get(found, str(found)) if isinstance(found, str) else " or ".join(found)


def settings(schema: dict[str, Any]) -> str:
    """A table of the settings that a JSON Schema of an object has; none: a sentence."""
    found, known = schema.get("properties", {}), schema.get("$defs", {})
    rows = [
        (
            code(name),
            kind(one, known),
            "required" if name in schema.get("required", ()) else default(one.get("default")),
            prose(one.get("description")),
        )
        for name, one in found.items()
    ]
    return table(("setting", "takes", "default", "what it is"), rows) if rows else "No settings."


def default(value: Any) -> str:
    """A default as YAML has it; nothing where absence is one."""
    if value is None or value in ({}, []) or (isinstance(value, dict) and not any(value.values())):
        return ""
    return code(str(value).lower() if isinstance(value, bool) else value)
