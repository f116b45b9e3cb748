from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from barnabas.experiments.explore.command import RunParameters, last_line, run_command
from tests.peers.test_guard import gone


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_program_is_told_where_it_is(tmp_path: Path) -> None:
    told = RunParameters("h:1", tmp_path / "h", "5f3a")
    code = "import os, sys; e = os.environ; print(sys.argv[1:], *(e[n] for n in sys.argv[1:]))"
    names = ["BARNABAS_BOOTSTRAP", "KAFKA_BOOTSTRAP_SERVERS", "BARNABAS_HISTORY", "BARNABAS_RUN"]
    out = tmp_path / "out"
    ended = run_command([*python(code), *names], told.environment(), out, 60)
    assert ended.code == 0
    assert out.read_text().strip() == f"{names} h:1 h:1 {tmp_path / 'h'} 5f3a"
    assert told.arguments(["{bootstrap}/{history}", "{run}{run}", "{}"]) == [
        f"h:1/{tmp_path / 'h'}",
        "5f3a5f3a",
        "{}",
    ]


def test_its_exit_code_and_its_last_words(tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = run_command(
        python("import sys; print('one\\n', flush=True); sys.exit('two')"), {}, out, 60
    )
    assert (ended.code, last_line(out)) == (1, "two")
    ended = run_command(python("import os; os.kill(os.getpid(), 9)"), {}, out, 60)
    assert (ended.code, last_line(out)) == (-9, "")


STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"],
    start_new_session="own-session" in sys.argv)
print(child.pid, flush=True)
if sys.argv[1] == "stay":
    time.sleep(600)
"""


def await_line(out: Path) -> None:
    """Wait until the program has printed a line."""
    end = time.monotonic() + 60
    while not (out.exists() and out.read_text().endswith("\n")) and time.monotonic() < end:
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("what", "limit"), [("stay", 0.1), ("leave", 60.0), ("leave own-session", 60.0)]
)
def test_what_it_started_ends_with_it(
    what: str, limit: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("barnabas.experiments.explore.command.GRACE", 0.1)
    out, wait = tmp_path / "out", subprocess.Popen.wait

    def wait_once_it_has_begun(
        process: subprocess.Popen[bytes], timeout: float | None = None
    ) -> int:
        await_line(out)
        return wait(process, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", wait_once_it_has_begun)
    ended = run_command([*python(STUBBORN), *what.split()], {}, out, limit)
    assert ended.code == (None if what == "stay" else 0)
    assert gone(int(out.read_text()), 60)


def test_an_interrupt_ends_it(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def interrupt() -> None:
        await_line(out)
        os.kill(os.getpid(), signal.SIGINT)

    # a shell's background jobs ignore it, and so do their children
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            run_command(
                python("import os, time; print(os.getpid(), flush=True); time.sleep(600)"),
                {},
                out,
                60,
            )
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert gone(int(out.read_text()), 60)
