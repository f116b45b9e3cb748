"""The date of a release on a Python package index, for an installation with the dependencies of that date."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

_INDEX: Final = "https://pypi.org/simple"
_JSON: Final = "application/vnd.pypi.simple.v1+json"
_TIMEOUT: Final = 30.0
"""Seconds for the index's page."""


def uploaded(package: str, version: str, pip_configuration: str) -> datetime | None:
    """Return when the last file of a release was uploaded; None if the index does not tell.

    Args:
        package: the name on the index.
        version: of the package.
        pip_configuration: the output of `pip config list`, which may name another index.
    """
    address = f"{index_of(pip_configuration)}/{package}/"
    try:
        # the address is the user's own index, or PyPI
        request = urllib.request.Request(address, headers={"Accept": _JSON})  # noqa: S310
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:  # noqa: S310
            return uploaded_on(json.load(response), version)
    except (OSError, ValueError):  # unreachable, or a page in HTML
        return None


def index_of(pip_configuration: str) -> str:
    r"""Return the address of the package index.

    >>> index_of("global.index-url='https://example.org/simple/'\nglobal.timeout='9'\n")
    'https://example.org/simple'
    >>> index_of("")
    'https://pypi.org/simple'
    """
    match = re.search(r"^[\w:]+\.index-url='([^']+)'", pip_configuration, re.MULTILINE)
    return (match[1] if match else _INDEX).rstrip("/")


def uploaded_on(page: Mapping[str, Any], version: str) -> datetime | None:
    """Return when the last file of a release was uploaded, from a project's page (PEP 691, PEP 700).

    >>> files = [{"filename": "x-1.0.tar.gz", "upload-time": "2021-09-02T10:47:05.59Z"},
    ...     {"filename": "x-1.0.1.tar.gz", "upload-time": "2022-09-02T10:47:05.59Z"}]
    >>> uploaded_on({"files": files}, "1.0").date().isoformat()
    '2021-09-02'
    """
    of_release = re.compile(rf"-{re.escape(version)}(-|\.tar|\.zip)")
    times = [
        datetime.fromisoformat(file["upload-time"])
        for file in page["files"]
        if of_release.search(file["filename"]) and file.get("upload-time")
    ]
    return max(times, default=None)
