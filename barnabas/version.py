"""The version. It is written in pyproject.toml, and nowhere else."""

from __future__ import annotations

import tomllib

from barnabas.location import ROOT


def version() -> str:
    """Of a checkout what its pyproject.toml says, even if another version of it was installed before."""
    try:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        if project["name"] == "barnabas":
            return str(project["version"])
    except (OSError, ValueError, KeyError):
        pass  # installed: beside the package there is none, or another project's
    from importlib import metadata  # it takes longer than all that is above

    try:
        return metadata.version("barnabas")
    except metadata.PackageNotFoundError:  # never installed: an archive on sys.path
        return "0+unknown"
