from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from barnabas.experiments.explore.command import CommandError, Surroundings, last_line, run_command


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_a_program_is_told_where_it_is(tmp_path: Path) -> None:
    told = Surroundings("h:1", tmp_path / "h", "5f3a")
    code = "import os, sys; e = os.environ; print(sys.argv[1:], *(e[n] for n in sys.argv[1:]))"
    names = ["BARNABAS_BOOTSTRAP", "KAFKA_BOOTSTRAP_SERVERS", "BARNABAS_HISTORY", "BARNABAS_RUN"]
    out = tmp_path / "out"
    ended = run_command([*python(code), *names], told.environment(), out, 20)
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
        python("import sys; print('one\\n', flush=True); sys.exit('two')"), {}, out, 20
    )
    assert (ended.code, last_line(out)) == (1, "two")
    ended = run_command(python("import os; os.kill(os.getpid(), 9)"), {}, out, 20)
    assert (ended.code, last_line(out)) == (-9, "")


def test_what_can_not_be_started(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="can't run no-such-program: No such file"):
        run_command(["no-such-program"], {}, tmp_path / "out", 1)


STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
if sys.argv[1] == "stay":
    time.sleep(600)
"""


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def await_gone(pid: int) -> bool:
    end = time.monotonic() + 10
    while not gone(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return gone(pid)


@pytest.mark.parametrize(("what", "limit"), [("stay", 0.7), ("leave", 20.0)])
def test_what_it_started_ends_with_it(
    what: str, limit: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("barnabas.experiments.explore.command.GRACE", 0.1)
    out = tmp_path / "out"
    ended = run_command([*python(STUBBORN), what], {}, out, limit)
    assert ended.code == (None if what == "stay" else 0)
    assert await_gone(int(out.read_text()))


def test_an_interrupt_ends_it(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def interrupt() -> None:
        end = time.monotonic() + 20
        while not (out.exists() and out.read_text().endswith("\n")) and time.monotonic() < end:
            time.sleep(0.01)
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
    assert await_gone(int(out.read_text()))
