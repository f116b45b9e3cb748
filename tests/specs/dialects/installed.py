"""A package that is installed for a test: modules and entry points in a folder on sys.path."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from barnabas import plugins
from barnabas.page import fields
from barnabas.specs.dialects import keys, registry

LEDGER: Final = Path(__file__).with_name("ledger_protocol.py").read_text("utf-8")
ENTRY_POINTS: Final = """
[barnabas.dialects]
ledger = ledger_protocol:LEDGER
[barnabas.peers]
audit = ledger_protocol:audit_app
[barnabas.brokers]
bank = ledger_protocol:BANK
[barnabas.experiments]
profit = ledger_protocol:PROFIT
"""

_CACHES: Final[tuple[Any, ...]] = (
    plugins.references,
    registry._registered,
    registry.dialects,
    keys.of_key,
    fields.body_fields,
)


def write(folder: Path, entry_points: str, modules: Mapping[str, str], name: str) -> None:
    """Write a package as pip installs it."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(entry_points, "utf-8")
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text, "utf-8")


@contextmanager
def installed(
    folder: Path,
    entry_points: str = ENTRY_POINTS,
    modules: Mapping[str, str] | None = None,
    *,
    name: str = "ledger",
) -> Iterator[None]:
    """Install a package, by default the ledger's, as long as the context lasts."""
    modules = {"ledger_protocol": LEDGER} if modules is None else modules
    write(folder, entry_points, modules, name)
    sys.path.insert(0, str(folder))
    _forget()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for module in modules:
            sys.modules.pop(module, None)
        _forget()


def _forget() -> None:
    importlib.invalidate_caches()
    for cache in _CACHES:
        cache.cache_clear()
