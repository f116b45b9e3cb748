from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from tests.mutation.children import Job, outcomes
from tests.mutation.operators import Mutant
from tests.mutation.session import Session, Timed
from tests.places import ROOT


def test_an_interrupt_in_a_hook_of_fork_is_not_lost(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    children = []

    def fork() -> int:
        with suppress(KeyboardInterrupt):  # what Python does in hooks
            os.kill(os.getpid(), signal.SIGINT)
        sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
        children.append(subprocess.Popen(sleep, start_new_session=True))
        return children[0].pid

    monkeypatch.setattr("tests.mutation.children.os.fork", fork)
    before = signal.getsignal(signal.SIGINT)
    job = Job(Mutant("m.py", "f", 1, 0, 1, "1", "2"), "", [Timed(request.node, 0.0)])
    with pytest.raises(KeyboardInterrupt):
        list(outcomes([job, job], Session("", lambda *_: None), ROOT, at_once=1))
    assert [child.wait(60) for child in children] == [-signal.SIGKILL]
    assert signal.getsignal(signal.SIGINT) is before
