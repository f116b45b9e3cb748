"""One process holds the lock; it is free again when that one dies."""

from __future__ import annotations

import fcntl
import os
import signal

import pytest

from barnabas.captures.live.lock import RecordLock
from tests.captures.live.forked import ended, fork


def test_others_wait_until_its_holder_lets_it_go_or_is_killed() -> None:
    lock = RecordLock()
    held, holds = os.pipe()

    def hold() -> None:
        with lock:
            os.write(holds, b"h")
            signal.pause()

    pid = fork(hold)
    os.read(held, 1)
    with pytest.raises(BlockingIOError):
        fcntl.lockf(lock.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.kill(pid, signal.SIGKILL)
    assert ended(pid) == -signal.SIGKILL
    with lock:
        assert ended(fork(lambda: _refused(lock))) == 0
    with lock:
        pass
    os.close(held)
    os.close(holds)


def _refused(lock: RecordLock) -> None:
    with pytest.raises(BlockingIOError):
        fcntl.lockf(lock.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
