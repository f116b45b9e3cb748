"""What others wrote is as it was published."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

PAGE = Path("page/static")
FOLDERS = (PAGE / "vendor", Path("pipeline/report/vendor"))
PACKAGES = [
    (folder, package)
    for folder in FOLDERS
    for package in json.loads((folder / "packages.json").read_text())
]


@pytest.mark.parametrize(
    ("folder", "package"), PACKAGES, ids=[package["file"] for _, package in PACKAGES]
)
def test_a_file_is_the_one_that_was_published_and_has_its_licence_beside_it(
    folder: Path, package: dict[str, str]
) -> None:
    data = (folder / package["file"]).read_bytes()
    assert hashlib.sha256(data).hexdigest() == package["sha256"]
    for text in package["text"].split(", "):
        assert "icens" in (folder / text).read_text()


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_every_file_is_said_to_be_whose_it_is(folder: Path) -> None:
    files = {path.name for path in folder.iterdir()} - {"packages.json"}
    packages = [package for place, package in PACKAGES if place == folder]
    texts = {text for package in packages for text in package["text"].split(", ")}
    assert files == {package["file"] for package in packages} | texts
