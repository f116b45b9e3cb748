"""Tests that begin, end when nobody asks about them, and are forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from barnabas.proxy.network.options import Options
from barnabas.proxy.network.sockets import listen
from barnabas.testing.server import roster as limits
from barnabas.testing.server.roster import Refused, Roster

TIMEOUT = 60.0


def a_roster(folder: Path, *, keep: bool = False, options: Options | None = None) -> Roster:
    ids: Iterator[int] = count(1)
    return Roster(
        options or Options([("127.0.0.1", 1)], drain=0.0),
        folder,
        keep,
        TIMEOUT,
        lambda: str(next(ids)),
    )


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


async def listens(address: tuple[str, int]) -> bool:
    try:
        _, writer = await asyncio.open_connection(*address)
    except ConnectionError:
        return False
    writer.close()
    return True


async def test_one_that_nobody_asks_about_ends_and_is_forgotten_with_its_capture(
    tmp_path: Path,
) -> None:
    roster = a_roster(tmp_path)
    test = await roster.begin("idle", None, True)
    began, address = test.last_used, test.proxy.address
    await roster.look(began + TIMEOUT - 1)
    assert test.view()["ended"] is None
    assert await listens(address)
    await roster.look(began + TIMEOUT)
    assert test.ended is not None
    assert test.ended["why"] == "nobody asked about it for 60 s"
    assert not await listens(address)
    assert names_in(tmp_path) == ["idle-1.pcapng"]
    await roster.look(began + 2 * TIMEOUT - 1)
    assert roster.tests == {"1": test}
    await roster.look(began + 2 * TIMEOUT)
    assert roster.tests == {}
    assert names_in(tmp_path) == []


async def test_while_somebody_asks_it_goes_on(tmp_path: Path) -> None:
    roster = a_roster(tmp_path)
    test = await roster.begin("", None, False)
    with test.in_use():
        await roster.look(test.last_used + 2 * TIMEOUT)
        assert test.view()["ended"] is None
    now = asyncio.get_running_loop().time()
    assert test.last_used == pytest.approx(now, abs=5)
    await roster.close()


@pytest.mark.parametrize("keep", [False, True])
async def test_in_the_end_all_end_and_captures_stay_in_a_folder_of_the_users(
    tmp_path: Path, keep: bool
) -> None:
    roster = a_roster(tmp_path, keep=keep)
    tests = [await roster.begin("", None, True) for _ in range(3)]
    waiting = asyncio.create_task(tests[0].wait_for(lambda _: True, 1, 60))
    await asyncio.sleep(0)
    await roster.close()
    assert [test.ended and test.ended["why"] for test in tests] == ["the server stops"] * 3
    assert isinstance((await asyncio.gather(waiting, return_exceptions=True))[0], Exception)
    assert names_in(tmp_path) == (["1.pcapng", "2.pcapng", "3.pcapng"] if keep else [])
    with pytest.raises(Refused, match="the server stops"):
        await roster.begin("", None, True)


async def test_when_there_are_too_many_the_first_that_is_over_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST", 2)

    roster = a_roster(tmp_path)
    first, second = [await roster.begin("", None, True) for _ in range(2)]
    with pytest.raises(Refused, match=r"2 tests run already: end one \(DELETE\)"):
        await roster.begin("", None, True)
    await second.end("asked to")
    third = await roster.begin("", None, False)
    assert list(roster.tests.values()) == [first, third]
    assert names_in(tmp_path) == ["1.pcapng"]
    await roster.close()


async def test_a_proxy_that_can_not_listen_is_no_test(tmp_path: Path) -> None:
    with listen(("127.0.0.1", 0)) as taken:
        where = taken.getsockname()[:2]
        options = Options([("127.0.0.1", 1)], listen=where, drain=0.0)
        roster = a_roster(tmp_path, options=options)
        with pytest.raises(OSError, match="in use"):
            await roster.begin("", None, True)
    assert roster.tests == {}
    assert names_in(tmp_path) == []
