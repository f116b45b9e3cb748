"""Who may use the control port: with real HTTP, and headers as browsers and others send them."""

from __future__ import annotations

import pytest

from barnabas.proxy.control.guard import hosts, new_token
from tests.proxy.control.desk import desk

HOST = "Host: {where}"
TOKEN = "Authorization: Bearer {token}"


@pytest.mark.parametrize(("lines", "status"), [
    ((HOST, TOKEN), 200),
    (("Host: localhost:{port}", TOKEN), 200),
    ((HOST,), 401),
    ((HOST, "Authorization: Bearer {token}x"), 401),
    ((HOST, "Authorization: Bearer "), 401),
    ((HOST, "Authorization: Basic {token}"), 401),
    ((HOST, "Authorization: Bearer \xe9"), 401),
    ((HOST, "Cookie: token={token}"), 401),
    (("Host: localhost", TOKEN), 403),
    (("Host: evil.example:{port}", TOKEN), 403),
    (("Host: {where}.evil.example", TOKEN), 403),
    ((HOST, TOKEN, "Origin: http://{where}"), 403),
    ((HOST, TOKEN, "Origin:"), 403),
    ((HOST, "Host: evil.example", TOKEN), 400),
    ((TOKEN,), 400),
])  # fmt: skip
async def test_only_a_request_with_the_token_the_right_host_and_no_origin(
    lines: tuple[str, ...], status: int
) -> None:
    async with desk() as it:
        port = it.serving.address[1]
        filled = tuple(x.format(where=it.where, token=it.token, port=port) for x in lines)
        answer = await it.raw("GET", "/v1/status", filled)
        assert answer.status == status
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert (answer.headers.get("www-authenticate") == "bearer") == (status == 401)
        if status in (401, 403):
            assert set(answer.json) == {"error"}
            assert it.token not in answer.error


@pytest.mark.parametrize(("method", "path"), [("GET", "/nothing"), ("POST", "/drain")])
async def test_without_the_token_nobody_learns_what_there_is_and_nothing_is_done(
    method: str, path: str
) -> None:
    async with desk() as it:
        answer = await it.raw(method, path, (f"Host: {it.where}",))
        assert answer.status == 401
        assert not it.drained


def test_a_token_is_another_one_each_time_and_can_not_be_guessed() -> None:
    assert len({new_token() for _ in range(100)}) == 100
    assert len(new_token()) >= 43


def test_ipv6_has_brackets_in_host() -> None:
    assert hosts(("::1", 80)) == ("[::1]:80", "localhost:80")
