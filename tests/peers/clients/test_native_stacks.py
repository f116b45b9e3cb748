"""Native stacks of programs whose C code crashes, on a thread of its own, with or without Python's lock."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.fuzz.observations.crashes import HEAP, find_crash
from barnabas.fuzz.targets.clients.native_frames import with_names
from barnabas.peers.clients.python import native_stacks_environment
from tests.waiting import SOON

SOURCE = r"""
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static void *crash(void *how) {
    char *volatile p = malloc(24);
    free(p);
    if (how) free(p);
    *(volatile int *)0 = 1;
    return NULL;
}

void crash_in_a_thread(int how) {
    pthread_t thread;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL); /* as librdkafka does */
    pthread_create(&thread, NULL, crash, (void *)(long)how);
    pthread_join(thread, NULL);
}
"""

PROGRAM = """
import ctypes, faulthandler, sys
faulthandler.enable()
load = ctypes.PyDLL if sys.argv[2] == "held" else ctypes.CDLL
load(sys.argv[1]).crash_in_a_thread(int(sys.argv[3]))
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("lock", ["held", "free"])
@pytest.mark.parametrize(
    ("twice_freed", "reason"), [(0, "Fatal Python error: Segmentation fault"), (1, HEAP)]
)
def test_a_crash_in_c_ends_the_process_with_its_native_stack(
    lock: str, twice_freed: int, reason: str, tmp_path: Path
) -> None:
    library = tmp_path / "site-packages" / "own.so"
    library.parent.mkdir()
    line = ["cc", "-shared", "-fPIC", "-O0", "-o", str(library), "-x", "c", "-", "-lpthread"]
    subprocess.run(line, input=SOURCE, text=True, check=True)
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(library), lock, str(twice_freed)],
        env={**os.environ, **native_stacks_environment(), "MALLOC_ARENA_MAX": "1"},
        capture_output=True,
        text=True,
        timeout=SOON,
        check=False,
    )
    output = with_names(ended.stderr)
    assert "Native stack:\n  crash (own.so)\n" in output
    crash = find_crash(output)
    assert crash is not None
    assert crash.reason == reason
