"""Bookmarks are kept next to the capture, and found again by who opens it next."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from starlette.requests import Request
from starlette.types import ASGIApp

from barnabas.captures.capture import open_capture
from barnabas.page.api import PageContent, application
from barnabas.page.bookmarks import LONGEST, SUFFIX, Bookmarks
from barnabas.proxy.control.history import History
from tests.page.browser import barnabas, page_at
from tests.page.pages import FAULTS
from tests.page.pages import called as calling


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return Path(shutil.copy(FAULTS, tmp_path / "run.pcapng"))


def asked(page: str, method: str, path: str, body: str | None = None) -> tuple[int, object]:
    address = urlsplit(page)
    connection = http.client.HTTPConnection(str(address.hostname), address.port or 0)
    token = address.fragment.removeprefix("token=")
    connection.request(
        method, f"/v1{path}", body and body.encode(), {"Authorization": f"Bearer {token}"}
    )
    answer = connection.getresponse()
    document = json.loads(answer.read())
    connection.close()
    return answer.status, document


def test_a_note_is_there_when_the_capture_is_opened_again(capture: Path) -> None:
    with barnabas("open", str(capture), "--no-browser") as ready:
        # every exchange is read once the list is over
        asked_until_read(ready["page"])
        assert asked(ready["page"], "PUT", "/bookmarks/8", "too late: é") == (200, {"bookmarks": 1})
        assert asked(ready["page"], "PUT", "/bookmarks/9", "") == (200, {"bookmarks": 2})
        assert asked(ready["page"], "DELETE", "/bookmarks/9") == (200, {"bookmarks": 1})
    with barnabas("open", str(capture), "--no-browser") as ready:
        asked_until_read(ready["page"])
        assert asked(ready["page"], "GET", "/bookmarks") == (
            200,
            [{"number": 8, "api": "Produce", "note": "too late: é"}],
        )
    assert sorted(path.name for path in capture.parent.iterdir()) == [
        "run.pcapng",
        f"run.pcapng{SUFFIX}",
    ]


def asked_until_read(page: str) -> None:
    address = urlsplit(page)
    connection = http.client.HTTPConnection(str(address.hostname), address.port or 0)
    token = address.fragment.removeprefix("token=")
    headers = {"Authorization": f"Bearer {token}"}
    connection.request("GET", "/v1/exchanges/follow?after=51", headers=headers)
    connection.getresponse().readline()
    connection.close()


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", '{"version": 1, "bookmarks": [1]}', "no JSON", "\ud800", "[" * 100_000),
        '{"version": 2, "bookmarks": {}}',
    ],
    ids=lambda text: ascii(text[:30]),
)
def test_a_file_that_is_no_bookmarks_is_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / f"run{SUFFIX}"
    data = text.encode("utf-8", "surrogatepass")
    path.write_bytes(data)
    status, said = called(path, "PUT", 0, "x")
    assert status == 409
    assert f"{path} is no file of bookmarks" in said
    assert path.read_bytes() == data


def test_a_pipe_is_no_file_of_bookmarks(tmp_path: Path) -> None:
    path = tmp_path / SUFFIX
    os.mkfifo(path)
    status, said = called(path, "PUT", 0, "x")
    assert (status, f"{path} is no file of bookmarks" in said) == (409, True)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    link, target = tmp_path / SUFFIX, tmp_path / "elsewhere.json"
    link.symlink_to(target)
    assert called(link, "PUT", 0, "x")[0] == 200
    assert link.readlink() == target
    assert json.loads(target.read_text())["bookmarks"]


def test_limits_and_missing_exchanges_are_refused(tmp_path: Path) -> None:
    path = tmp_path / SUFFIX
    assert called(path, "PUT", 0, "x" * (LONGEST + 1))[0] == 413
    assert called(path, "PUT", 7777, "x")[0] == 404
    assert called(path, "PUT", "9" * 5000, "x")[0] == 400
    assert called(tmp_path / "missing" / SUFFIX, "PUT", 0, "x")[0] == 403
    assert not path.exists()


def bookmarks(path: Path | None = None) -> Bookmarks:
    history = History()
    for exchange in open_capture(FAULTS).exchanges():
        history.add(exchange)
    return Bookmarks(history, path)


async def put(marks: Bookmarks, number: int, note: str) -> None:
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": note.encode(), "more_body": False}

    scope = {"type": "http", "headers": [], "path_params": {"number": str(number)}}
    assert (await marks.put(Request(scope, receive))).status_code == 200


async def listed(marks: Bookmarks) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(
        bytes((await marks.listed(Request({"type": "http"}))).body)
    )
    return found


async def test_bookmarks_set_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    marks = bookmarks(tmp_path / SUFFIX)
    await asyncio.gather(*(put(marks, number, "x") for number in range(8)))
    assert len(await listed(marks)) == 8
    assert len(await listed(bookmarks(tmp_path / SUFFIX))) == 8


async def test_a_note_with_half_a_surrogate_pair_stops_no_change(tmp_path: Path) -> None:
    path = tmp_path / SUFFIX
    marks = bookmarks(path)
    await put(marks, 0, "x")
    path.write_text(path.read_text("utf-8").replace('"x"', '"\\ud800"'), "utf-8")
    marks = bookmarks(path)
    await put(marks, 1, "y")
    assert [each["note"] for each in await listed(bookmarks(path))] == ["\ud800", "y"]


def test_a_name_that_is_too_long_is_a_problem_of_bookmarks_alone(tmp_path: Path) -> None:
    status, said = called(tmp_path / ("x" * 250 + SUFFIX), "PUT", 0, "x")
    assert (status, "File name too long" in said) == (409, True)


def test_several_captures_have_bookmarks_in_memory(capture: Path) -> None:
    second = Path(shutil.copy(capture, capture.with_name("second.pcapng")))
    with barnabas("open", str(capture), str(second), "--no-browser") as ready:
        asked_until_read(ready["page"])
        assert asked(ready["page"], "PUT", "/bookmarks/8", "x") == (200, {"bookmarks": 1})
    assert {path.suffix for path in capture.parent.iterdir()} == {".pcapng"}


def called(path: Path, method: str, number: int | str, body: str) -> tuple[int, str]:
    """What bookmarks over a capture answer."""

    def made() -> tuple[History, ASGIApp]:
        history = History()
        for exchange in open_capture(FAULTS).exchanges():
            history.add(exchange)
        source = {"kind": "capture", "name": "run", "keeps": 1000}
        return history, application(PageContent(history, source, bookmarks=path))

    with calling(made) as caller:
        status, document = asked(
            f"http://{caller.address}/#token=secret", method, f"/bookmarks/{number}", body
        )
    return status, str(document)


@pytest.mark.needs_chromium
def test_a_bookmark_is_set_noted_and_found_by_keys_and_mouse(capture: Path) -> None:
    with (
        barnabas("open", f"{capture}#8", "--no-browser") as ready,
        page_at(ready["page"]) as page,
    ):
        page.locator("article h2", has_text="Produce v10").wait_for()
        page.keyboard.press("b")
        page.locator(".row.starred").wait_for()
        note = page.get_by_role("textbox", name="Note")
        note.press_sequentially("the first")
        page.locator(".rows .api").nth(3).hover()  # which draws the page anew
        page.locator(".quick").wait_for()
        note.press_sequentially(" retry")
        note.blur()
        page.locator("summary", has_text="★ 1").click()
        page.locator(".bookmarks .menu").get_by_text("#8 the first retry").wait_for()
        page.reload()
        page.locator(".row.starred").wait_for()
        page.get_by_role("button", name="Bookmark", exact=True).click()
        page.locator(".row.starred").wait_for(state="detached")


@pytest.mark.needs_chromium
def test_a_note_of_somebody_else_is_shown_not_replaced(capture: Path) -> None:
    with (
        barnabas("open", f"{capture}#8", "--no-browser") as ready,
        page_at(ready["page"]) as page,
    ):
        page.locator("article h2", has_text="Produce v10").wait_for()
        asked(ready["page"].partition("&")[0], "PUT", "/bookmarks/8", "mine")
        page.keyboard.press("b")
        page.locator(".row.starred").wait_for()
        assert page.get_by_role("textbox", name="Note").input_value() == "mine"


@pytest.mark.needs_chromium
def test_to_look_at_one_exchange_after_another_asks_for_no_bookmarks(capture: Path) -> None:
    with (
        barnabas("open", f"{capture}#8", "--no-browser") as ready,
        page_at(ready["page"]) as page,
    ):
        page.locator("article h2", has_text="Produce v10").wait_for()
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url.partition("/v1")[2]))
        for number in (9, 10):
            page.keyboard.press("j")
            page.locator("article", has_text=f"#{number} ·").wait_for()
        assert {"/exchanges/9", "/exchanges/10"} <= set(requests)
        assert [path for path in requests if "bookmarks" in path] == []
