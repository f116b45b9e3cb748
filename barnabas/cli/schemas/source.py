"""The source that `--schemas` names: a registry's URL, or a folder."""

from __future__ import annotations

from pathlib import Path

from barnabas.captures.values.value import Values
from barnabas.cli.schemas.folder import from_folder
from barnabas.cli.schemas.registry import Registry
from barnabas.trouble import Trouble


def values_by(schemas: str | None, id_bytes: int, *, wait: bool) -> Values:
    """Return a decoder of keys and values. Raises Trouble.

    wait: Whether decoding may wait for a registry.
    """
    if schemas is None:
        return Values(id_bytes=id_bytes)
    folder = Path(schemas)
    if "://" not in schemas and folder.is_dir():
        return Values(from_folder(folder), id_bytes)
    try:
        return Values(Registry(schemas, wait=wait), id_bytes)
    except ValueError as problem:
        raise Trouble(f"--schemas: neither a folder nor a registry: {problem}") from None
