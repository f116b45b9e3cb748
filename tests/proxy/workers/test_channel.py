"""Calls to another process: values, exceptions, several at a time, and an end."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from barnabas.proxy.control.target import Refused
from barnabas.proxy.workers.channel import Caller, WorkerEnded, serve

SOON = 60.0


@asynccontextmanager
async def calling(
    methods: dict[str, Callable[..., Any]], gone: Callable[[], None] = lambda: None
) -> AsyncIterator[tuple[Caller, asyncio.Task[None]]]:
    ours, theirs = socket.socketpair()
    serving = asyncio.create_task(serve(theirs, methods.__getitem__))
    caller = Caller(ours, gone)
    try:
        async with asyncio.timeout(SOON):
            yield caller, serving
    finally:
        await caller.close()
        await asyncio.wait([serving])


async def test_values_come_back_of_functions_and_coroutines() -> None:
    async def later(value: int) -> int:
        await asyncio.sleep(0)
        return value + 1

    async with calling({"now": lambda *args: args, "later": later}) as (caller, _):
        assert await caller.call("now", 1, b"x" * 1_000_000) == (1, b"x" * 1_000_000)
        assert await caller.call("later", 1) == 2


class Two(Exception):
    """A value that can be pickled, and not unpickled."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} {two}")


async def test_exceptions_come_back_even_those_that_can_not_be_pickled() -> None:
    class Own(Exception):
        pass

    def refuse() -> None:
        raise Refused("not now")

    async def own() -> None:
        raise Own("local to a function")

    def two() -> None:
        raise Two(1, 2)

    methods = {"refuse": refuse, "own": own, "two": two, "lock": threading.Lock}
    async with calling(methods) as (caller, _):
        with pytest.raises(Refused, match="not now"):
            await caller.call("refuse")
        with pytest.raises(RuntimeError, match="local to a function"):
            await caller.call("own")
        with pytest.raises(RuntimeError, match="Two"):
            await caller.call("two")
        with pytest.raises(RuntimeError, match="pickle"):
            await caller.call("lock")
        with pytest.raises(KeyError):
            await caller.call("unknown")


async def test_a_quick_call_overtakes_a_slow_one() -> None:
    done = asyncio.Event()

    async def slow() -> str:
        await done.wait()
        return "slow"

    async with calling({"slow": slow, "quick": done.set}) as (caller, _):
        slowly = asyncio.create_task(caller.call("slow"))
        await caller.call("quick")
        assert await slowly == "slow"


async def test_who_waits_is_told_that_the_other_has_ended() -> None:
    told: list[str] = []
    async with calling({"hang": asyncio.Event().wait}, lambda: told.append("gone")) as it:
        caller, serving = it
        waiting = asyncio.create_task(caller.call("hang"))
        await asyncio.sleep(0)
        serving.cancel()
        with pytest.raises(WorkerEnded):
            await waiting
        with pytest.raises(WorkerEnded):
            await caller.call("hang")
        assert told == ["gone"]


async def test_what_is_asked_in_vain_is_not_done_later() -> None:
    done: list[str] = []
    ours, theirs = socket.socketpair()
    caller = Caller(ours, lambda: None)
    async with asyncio.timeout(SOON):
        with pytest.raises(TimeoutError):  # nobody serves yet
            await caller.call("do", "step", within=0.0)
        serving = asyncio.create_task(serve(theirs, {"do": done.append}.__getitem__))
        await caller.call("do", "adopt")
        assert done == ["adopt"]
        await caller.call("do", "pause", within=SOON)
        assert done == ["adopt", "pause"]
        await caller.close()
        await asyncio.wait([serving])
