"""A forked process begins as if it had no loop, no descriptors of others, and ends behind its work."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from barnabas.forking import fork
from barnabas.loop import run


def code_of(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_it_has_a_loop_of_its_own_and_only_what_it_was_given() -> None:
    kept, told = os.pipe()
    other, closed = os.pipe()

    def work() -> None:
        async def main() -> None:
            await asyncio.sleep(0)

        run(main())
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(other)
        ends = (signal.SIGINT, signal.SIGTERM)
        ignored = all(signal.getsignal(number) is signal.SIG_IGN for number in ends)
        os.write(told, b"ignored" if ignored else b"heard")

    async def main() -> int:
        return fork(work, [told], "test")

    assert code_of(run(main())) == 0
    assert os.read(kept, 7) == b"ignored"
    for end in (kept, told, other, closed):
        os.close(end)


def test_what_it_raises_is_a_line_and_an_exit_code() -> None:
    program = (
        "import os; from barnabas.forking import fork; pid = fork(lambda: 1 / 0, [], 'worker 3'); "
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert (found.stdout, found.stderr) == (
        "1\n",
        "worker 3: ZeroDivisionError('division by zero')\n",
    )
