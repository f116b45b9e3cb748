"""What others wrote is as it was published."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

VENDOR = Path("page/static/vendor")
PACKAGES = json.loads((VENDOR / "packages.json").read_text())


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package["file"])
def test_a_file_is_the_one_that_was_published_and_has_its_licence_beside_it(
    package: dict[str, str],
) -> None:
    data = (VENDOR / package["file"]).read_bytes()
    assert hashlib.sha256(data).hexdigest() == package["sha256"]
    for text in package["text"].split(", "):
        assert "icens" in (VENDOR / text).read_text()


def test_every_file_is_said_to_be_whose_it_is() -> None:
    files = {path.name for path in VENDOR.iterdir()} - {"packages.json"}
    texts = {text for package in PACKAGES for text in package["text"].split(", ")}
    assert files == {package["file"] for package in PACKAGES} | texts


def test_the_page_itself_stays_small() -> None:
    own = [path for path in VENDOR.parent.iterdir() if path.is_file()]
    assert sum(len(path.read_text().splitlines()) for path in own) < 5000
