"""The command that restarts the broker: `barnabas conform --restart`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
from collections.abc import Awaitable, Callable

from barnabas.conform.run import START_S, CannotRun
from barnabas.trouble import Trouble


def restarter(command: str) -> Callable[[], Awaitable[None]]:
    """Return a function that runs the command. Raises Trouble if it is not a command line.

    The function raises CannotRun if the command fails, or does not end within START_S.
    """
    try:
        words = shlex.split(command)
    except ValueError as problem:
        raise Trouble(f"--restart: {command!r} is not a command line: {problem}") from None
    if not words:
        raise Trouble("--restart: the command is empty")

    async def restart() -> None:
        try:
            process = await asyncio.create_subprocess_exec(*words, start_new_session=True)
        except OSError as problem:
            raise CannotRun(f"--restart: {words[0]}: {problem.strerror}") from None
        try:
            async with asyncio.timeout(START_S):
                code = await process.wait()
        except BaseException as problem:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(problem, TimeoutError):
                raise
            hint = "a command that starts the broker must not wait for its end"
            raise CannotRun(f"--restart did not end within {START_S:g} s: {hint}") from None
        if code:
            raise CannotRun(f"--restart ended with exit code {code}")

    return restart
