"""The version of barnabas, which only pyproject.toml contains."""

from __future__ import annotations

import tomllib

from barnabas.location import ROOT


def version() -> str:
    """Return the version: in a checkout that of its pyproject.toml, even if another version is installed."""
    try:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        if project["name"] == "barnabas":
            return str(project["version"])
    except (OSError, ValueError, KeyError):
        pass  # installed: next to the package there is no pyproject.toml, or another project's
    from importlib import metadata  # this import is slow

    try:
        return metadata.version("barnabas")
    except metadata.PackageNotFoundError:  # not installed: an archive on sys.path
        return "0+unknown"
