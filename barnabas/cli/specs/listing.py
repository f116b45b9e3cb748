"""`barnabas spec`: lists of APIs and errors, and helpers for printing."""

from __future__ import annotations

import textwrap
from typing import Any, Final, Literal

from rich.console import Console
from rich.text import Text

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.terminal import Terminal
from barnabas.nearest import did_you_mean
from barnabas.specs import REGISTRY, api
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.guide import flexible_text, module_of, purpose
from barnabas.specs.message import Api
from barnabas.trouble import FINE, Trouble

Which = Literal["request", "response"] | None
"""The direction to show; None: both."""

NARROW: Final = 24
"""Cells below which the purpose of an API has a line of its own."""


def dump(value: Any) -> int:
    """Print a value as JSON; return the exit code."""
    print(json_text(value, indent=2))
    return FINE


def fit(text: str, indent: int, out: Console) -> str:
    """Wrap a text to the terminal's width; later lines are indented."""
    if not out.is_terminal:
        return text
    wrapped = textwrap.wrap(
        text,
        max(out.width, 2 * indent),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(wrapped)


def list_apis(part: str, as_json: bool) -> int:
    """Print the APIs with a text in their names: key, versions, flexible versions, purpose."""
    apis = [api(key) for key, name, _ in REGISTRY if part.lower() in name.lower()]
    if not apis:
        raise Trouble(f"no API has {part!r} in its name; `barnabas spec list` shows all")
    if as_json:
        return dump([facts(each) for each in apis])
    out = Terminal()
    width = max(len(each.name) for each in apis)
    head = f"key  {'API':<{width}}  versions  flexible  what it is for"
    narrow = out.is_terminal and out.width < len(head) + NARROW
    out.print(head.replace("  what it is for", "") if narrow else head, style="bold")
    for each in apis:
        line = Text(f"{each.key:>3}  ")
        line.append(f"{each.name:<{width}}", "cyan")
        line.append(f"  {versions_text(each):<8}  {flexible_text(each):<8}")
        purpose_text = purpose(each)[0]
        if narrow:
            line.rstrip()
            line.append("\n" + fit(f"     {purpose_text}", 5, out), "dim")
        else:
            indent = len(line) + 2
            line.append(fit(" " * indent + purpose_text, indent, out)[indent - 2 :])
        out.print(line)
    return FINE


def versions_text(each: Api) -> str:
    """Return the versions of an API, e.g. `0-18`."""
    first, last = each.versions
    return str(first) if first == last else f"{first}-{last}"


def facts(each: Api) -> dict[str, Any]:
    """Return the general facts of an API, for JSON."""
    purpose_text, source = purpose(each)
    return {
        "key": each.key,
        "name": each.name,
        "versions": list(each.versions),
        "stable": each.stable,
        "flexible_since": None if flexible_text(each) == "none" else each.flexible,
        "what": purpose_text,
        "source": source,
        "module": module_of(each),
    }


def errors(text: str, as_json: bool) -> int:
    """Print the error codes with this number or with this text in their names."""
    matching = [
        error
        for error in ERROR_CODES
        if text in ("", str(error.code)) or text.upper() in error.name
    ]
    if not matching:
        hint = did_you_mean(text, [error.name for error in ERROR_CODES])
        raise Trouble(f"no error code or name matches {text!r}{hint}")
    if as_json:
        return dump([error._asdict() for error in matching])
    out = Terminal()
    for error in matching:
        line = Text(f"{error.code:>4}  {error.name:<40}")
        line.append("retriable" if error.retriable else "", "green")
        line.rstrip()
        out.print(line)
    return FINE
