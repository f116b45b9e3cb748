"""A web page of another origin, in a real browser, against the control port."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.proxy.control.desk import desk

PAGE = """<!doctype html><meta charset="utf-8"><title>evil</title><pre id="found"></pre><script>
const base = "BASE", token = "TOKEN", found = {};
async function attempt(name, url, options) {
  try {
    const answer = await fetch(new URL(url, base), options);
    found[name] = answer.type + " " + answer.status + " " + (await answer.text()).length;
  } catch (problem) { found[name] = problem.name; }
}
function loads(name, element) {
  return new Promise(done => {
    element.onload = () => { found[name] = "loaded"; done(); };
    element.onerror = () => { found[name] = "refused"; done(); };
    document.head.append(element);
  });
}
(async () => {
  const authorization = {Authorization: "Bearer " + token};
  await attempt("own", location.href, {});
  await attempt("plain", "/v1/status", {});
  await attempt("token", "/v1/status", {headers: authorization});
  await attempt("drain", "/v1/drain", {method: "POST", headers: authorization});
  await attempt("blind drain", "/v1/drain", {method: "POST", mode: "no-cors", body: "x"});
  await attempt("blind status", "/v1/status", {mode: "no-cors", headers: authorization});
  await attempt("with credentials", "/v1/status", {credentials: "include"});
  await loads("script", Object.assign(document.createElement("script"), {src: base + "/v1/metrics"}));
  const source = new EventSource(base + "/v1/exchanges/stream");
  await new Promise(done => {
    source.onopen = () => { found.events = "open"; done(); };
    source.onerror = () => { found.events = "refused"; done(); };
  });
  source.close();
  document.getElementById("found").textContent = JSON.stringify(found);
})();
</script>"""


@pytest.mark.needs_chromium
async def test_a_page_can_neither_read_nor_do_anything_even_if_it_knew_the_token(
    tmp_path: Path,
) -> None:
    async with desk() as it:
        host, port = it.serving.address
        text = PAGE.replace("TOKEN", it.token)

        async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            body = text.replace("BASE", f"http://{host}:{port}").encode()
            head = f"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}"
            writer.write(head.encode() + b"\r\n\r\n" + body)
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(page, "127.0.0.1", 0)
        origin = f"http://localhost:{server.sockets[0].getsockname()[1]}/"
        browser = await asyncio.create_subprocess_exec(
            "chromium",
            *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            *(f"--user-data-dir={tmp_path}", "--virtual-time-budget=20000", "--dump-dom"),
            origin,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        out, _ = await asyncio.wait_for(browser.communicate(), 90)
        server.close()
        told = out.decode().partition('<pre id="found">')[2].partition("</pre>")[0]
        found = json.loads(told)
        own = found.pop("own")
        assert own.startswith("basic 200"), "the page itself can ask"
        blind = [found.pop("blind drain"), found.pop("blind status")]
        assert blind == ["opaque 0 0"] * 2, "sent, but nothing can be read, and nothing was done"
        failed = dict.fromkeys(("plain", "token", "drain", "with credentials"), "TypeError")
        assert found == failed | {"script": "refused", "events": "refused"}
        assert it.drained == []
        assert it.history.followers == 0
