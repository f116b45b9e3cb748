"""`barnabas spec`: which APIs and errors there are, and how lists and layouts are printed."""

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
"""The direction that is asked for; None: both."""

NARROW: Final = 24
"""With less room than that for what an API is for, it stands on a line of its own."""


def dump(value: Any) -> int:
    """JSON to stdout."""
    print(json_text(value, indent=2))
    return FINE


def fit(text: str, indent: int, out: Console) -> str:
    """Text in as many lines as the terminal needs, from the second on with this indentation."""
    if not out.is_terminal:
        return text
    found = textwrap.wrap(
        text,
        max(out.width, 2 * indent),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(found)


def list_apis(wanted: str, as_json: bool) -> int:
    """All APIs, or those whose name has this in it: key, versions, flexible since, what it is for."""
    found = [api(key) for key, name, _ in REGISTRY if wanted.lower() in name.lower()]
    if not found:
        raise Trouble(f"no API has {wanted!r} in its name; `barnabas spec list` shows all")
    if as_json:
        return dump([facts(each) for each in found])
    out = Terminal()
    width = max(len(each.name) for each in found)
    head = f"key  {'API':<{width}}  versions  flexible  what it is for"
    narrow = out.is_terminal and out.width < len(head) + NARROW
    out.print(head.replace("  what it is for", "") if narrow else head, style="bold")
    for each in found:
        line = Text(f"{each.key:>3}  ")
        line.append(f"{each.name:<{width}}", "cyan")
        line.append(f"  {versions_text(each):<8}  {flexible_text(each):<8}")
        what = purpose(each)[0]
        if narrow:
            line.rstrip()
            line.append("\n" + fit(f"     {what}", 5, out), "dim")
        else:
            indent = len(line) + 2
            line.append(fit(" " * indent + what, indent, out)[indent - 2 :])
        out.print(line)
    return FINE


def versions_text(each: Api) -> str:
    """The versions of an API, e.g. `0-18`."""
    first, last = each.versions
    return str(first) if first == last else f"{first}-{last}"


def facts(each: Api) -> dict[str, Any]:
    """What there is to say of an API in general, for programs."""
    what, source = purpose(each)
    return {
        "key": each.key,
        "name": each.name,
        "versions": list(each.versions),
        "stable": each.stable,
        "flexible_since": None if flexible_text(each) == "none" else each.flexible,
        "what": what,
        "source": source,
        "module": module_of(each),
    }


def errors(wanted: str, as_json: bool) -> int:
    """The error codes, or those with this number or with this in their name."""
    found = [
        error
        for error in ERROR_CODES
        if wanted in ("", str(error.code)) or wanted.upper() in error.name
    ]
    if not found:
        hint = did_you_mean(wanted, [error.name for error in ERROR_CODES])
        raise Trouble(f"no error code is, or is called like, {wanted!r}{hint}")
    if as_json:
        return dump([error._asdict() for error in found])
    out = Terminal()
    for error in found:
        line = Text(f"{error.code:>4}  {error.name:<40}")
        line.append("retriable" if error.retriable else "", "green")
        line.rstrip()
        out.print(line)
    return FINE
