"""A wheel for a platform is the pure one with kfake and its licences, and the same bytes each time."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest
from wheel.wheelfile import WheelFile

from tests.package.platform_wheels import EXPRESSION, LICENSES, TAGS, add_to, main, replace

INFO = "barnabas-0.1.0.dist-info"

PURE = {
    "barnabas/peers/kfake/__init__.py": "",
    f"{INFO}/METADATA": "License-Expression: Apache-2.0\nLicense-File: LICENSE\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n\n",
    f"{INFO}/licenses/LICENSE": "Apache",
}


def pure(folder: Path) -> Path:
    path = folder / "barnabas-0.1.0-py3-none-any.whl"
    with WheelFile(path, "w") as wheel:
        for name, text in PURE.items():
            wheel.writestr(name, text)
    return path


def test_the_program_and_its_licences_are_added(tmp_path: Path) -> None:
    tags = TAGS["linux", "arm64"]
    made = add_to(pure(tmp_path), tags, b"\x7fELF", "BSD")
    assert made.name == ("barnabas-0.1.0-py3-none-manylinux_2_17_aarch64.musllinux_1_1_aarch64.whl")
    with ZipFile(made) as wheel:
        added = {*wheel.namelist()} - {*PURE, f"{INFO}/RECORD"}
        program = "barnabas/peers/kfake/bin/kfake"
        assert added == {program, f"{INFO}/licenses/{LICENSES}"}
        assert wheel.read(program) == b"\x7fELF"
        assert wheel.getinfo(program).external_attr >> 16 & 0o111 == 0o111
        metadata = wheel.read(f"{INFO}/METADATA").decode().splitlines()
        assert f"License-Expression: {EXPRESSION}" in metadata
        assert f"License-File: {LICENSES}" in metadata
        text = wheel.read(f"{INFO}/WHEEL").decode().splitlines()
    assert "Root-Is-Purelib: false" in text
    assert [line for line in text if "Tag" in line] == [f"Tag: py3-none-{tag}" for tag in tags]
    content = made.read_bytes()
    made.unlink()
    assert add_to(pure(tmp_path), tags, b"\x7fELF", "BSD").read_bytes() == content


def test_a_wheel_that_is_not_there_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["platform_wheels", "--here", "dist/*.whl"])
    assert main() == 2
    assert capsys.readouterr().err == "dist/*.whl: no such wheel; `make wheel` builds it\n"


def test_a_line_that_is_not_there_is_not_ignored(tmp_path: Path) -> None:
    path = tmp_path / "METADATA"
    path.write_text("License-Expression: MIT\n")
    with pytest.raises(ValueError, match=r"METADATA has no line 'License-Expression: Apache-2\.0'"):
        replace(path, ("License-Expression: Apache-2.0", "License-Expression: x"))
