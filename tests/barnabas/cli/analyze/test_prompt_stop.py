"""A signal ends an analysis that would never end by itself: no test here depends on a machine's speed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.places import ROOT, SAMPLES
from tests.running import running

STUCK = """
import signal, sys, threading
from pathlib import Path
from barnabas.cli.analyze.prompt_stop import prompt_stop
from barnabas.cli.console.output import Output
from barnabas.stop_signals import delay_stop

def stay():
    threading.Event().wait()

try:
    with prompt_stop("interrupted: it is not complete", Output(), [Path(sys.argv[2])]):
        if sys.argv[1] == "thread":  # the interpreter waits for it at its end
            threading.Thread(target=stay).start()
            print("ready", flush=True)
            stay()
        with delay_stop():  # as while modules load
            print("ready", flush=True)
            stay()
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("where", ["thread", "delayed"])
def test_what_never_ends_is_ended(tmp_path: Path, where: str, ending: signal.Signals) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", STUCK, where, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(ending)
        _, said = process.communicate(timeout=100)
    assert process.returncode == 130
    assert said == "interrupted: it is not complete\n"
    assert not folder.exists()


@pytest.mark.needs_spark
def test_a_java_that_never_starts_is_killed(tmp_path: Path) -> None:
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(
        '#!/bin/sh\n[ "$1" = -version ] && { echo \'version "21"\' >&2; exit; }\n'
        f"touch {tmp_path}/started\nwhile :; do sleep 0.1; done\n"
    )
    java.chmod(0o755)
    temporary, out = tmp_path / "temporary", tmp_path / "out"
    temporary.mkdir()
    given = {"JAVA_HOME": str(tmp_path / "java"), "TMPDIR": str(temporary)}
    capture = str(SAMPLES / "rebalance.pcap.gz")
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "barnabas", "analyze", capture, "--engine", "spark"),
            "-o",
            str(out),
        ],
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **given},
    ) as process:
        while not (tmp_path / "started").exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=100)
    assert process.returncode == 130
    assert said.splitlines()[-1].startswith(f"interrupted: {out} is not complete")
    assert running(java) == []
    assert list(temporary.glob("barnabas-*")) == []
