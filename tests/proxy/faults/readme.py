"""README's table of faults, from their files: `python -m tests.proxy.faults.readme` writes it."""

from __future__ import annotations

import importlib
import re
from typing import Any, Final

from barnabas.proxy.faults import FAULTS
from tests.places import ROOT

README: Final = ROOT / "README.md"
_HEAD: Final = "| fault | what it does | settings |\n|---|---|---|\n"
_TABLE: Final = re.compile(re.escape(_HEAD) + r"(?:\|.*\n)+")


def table() -> str:
    """A row for each fault: what its file's first sentences say, and its settings."""
    rows = []
    for name, model, *_ in FAULTS:
        text = str(importlib.import_module(f"barnabas.proxy.faults.{name}").__doc__)
        said = " ".join(text.split("\n\n")[0].split()).removeprefix(f"`{name}`: ").removesuffix(".")
        schema = model.model_json_schema().get("properties", {})
        settings = ", ".join(_setting(name, found) for name, found in schema.items())
        rows.append(f"| `{name}` | {said} | {settings} |\n")
    return _HEAD + "".join(rows)


def _setting(name: str, schema: dict[str, Any]) -> str:
    """A setting with the words that it may be, if they are few, or with the text that it is if absent."""
    if "enum" in schema:
        return f"`{name}: " + "\\|".join(schema["enum"]) + "`"
    default = schema.get("default")
    return f"`{name}` ({default})" if default and isinstance(default, str) else f"`{name}`"


def readme(table: str) -> str:
    """README with this table."""
    return _TABLE.sub(lambda _: table, README.read_text())


if __name__ == "__main__":
    README.write_text(readme(table()))
