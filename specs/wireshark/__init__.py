"""A Wireshark dissector in Lua of every API in every version, generated from the declarations.

`barnabas.specs.wireshark.table` writes the layouts as tables. `lua/` has the engine that reads them; the
first line of each file says what it does.

>>> script().splitlines()[0]
'-- Dissects Kafka in Wireshark: every API in every version. Made by `barnabas spec wireshark`.'
"""

from __future__ import annotations

from importlib import resources
from typing import Final

from barnabas.specs.wireshark.table import table

PARTS: Final = (
    "reading.lua",
    "layouts.lua",
    "values.lua",
    "decompression.lua",
    "records.lua",
    "inside.lua",
    "frames.lua",
)
"""The files of the engine, in the order in which they follow the table."""

HEAD: Final = """\
-- Dissects Kafka in Wireshark: every API in every version. Made by `barnabas spec wireshark`.
-- Wireshark's folder for personal Lua plugins is the place for it (Help > About > Folders).
"""


def script() -> str:
    """Return the whole text of the dissector: the table of layouts, and the engine."""
    folder = resources.files("barnabas.specs.wireshark") / "lua"
    return "\n".join((HEAD, table(), *((folder / part).read_text() for part in PARTS)))
