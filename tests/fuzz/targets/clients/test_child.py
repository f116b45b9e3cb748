"""What is known of a process that dies, and what one can do before its end."""

from __future__ import annotations

import selectors
import sys
import time
from pathlib import Path

from barnabas.fuzz.targets.clients.child import Child
from barnabas.peers.apache.guard import Guard

SAYS_WHY_AND_THEN_DIES = """
import os, sys
print("program: queue.c:12: push_all: Assertion `count > 0' failed.", file=sys.stderr, flush=True)
sys.stdin.readline()
os.abort()
"""


def test_words_that_were_looked_at_before_the_end_came_are_its_last_words(tmp_path: Path) -> None:
    guard = Guard(tmp_path)
    with selectors.DefaultSelector() as selector:
        line = (sys.executable, "-c", SAYS_WHY_AND_THEN_DIES)
        child = Child(line, tmp_path, selector, guard, environment={})
        try:
            deadline = time.monotonic() + 60
            while not (log := child.log()):
                assert time.monotonic() < deadline
            assert "push_all" in log[0]
            child.tell("die")
            death = child.death(patience=60)
        finally:
            child.end()
            guard.close()
    assert death.exit_code == -6
    assert "push_all" in death.last_words
