from __future__ import annotations

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys
from barnabas.cli.proxy.memory import keep_freed
if sys.argv[1] == "kept":
    keep_freed()
def pass_through():
    for _ in range(100):
        several = [bytearray(600_000) for _ in range(8)]
pass_through()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
pass_through()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how: str) -> int:
    found = subprocess.run(
        [sys.executable, "-c", FAULTS, how], capture_output=True, text=True, timeout=60
    )
    return int(found.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_messages_are_not_faulted_in_anew() -> None:
    assert faults("kept") * 10 < faults("given back")
