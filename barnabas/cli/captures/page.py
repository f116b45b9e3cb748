"""`barnabas open`: a capture as a page in the browser."""

from __future__ import annotations

import asyncio
import os
import threading
import webbrowser
from pathlib import Path

from barnabas.captures.capture import Capture
from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.host_port import endpoint_text
from barnabas.captures.tls.keylog import KeyLog
from barnabas.cli.captures.input import opened, spoken
from barnabas.cli.console.output import Output
from barnabas.endings import endings
from barnabas.loop import run
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble


def open_page(files: list[Path], port: int, browser: bool, keys: KeyLog | None = None) -> int:
    """Show the page until a signal asks it to end. Raises Trouble if it can't start."""
    return run(_main(opened(*files, keys=keys), port, browser, Output()))


async def _main(capture: Capture, port: int, browser: bool, output: Output) -> int:
    try:
        from barnabas.page.api import application
        from barnabas.page.store import Store
        from barnabas.proxy.control.guard import new_token
        from barnabas.proxy.control.serving import serve
    except ImportError as problem:
        line = f"the page needs the package {problem.name}: pip install 'barnabas[control]'"
        raise Trouble(line, COULD_NOT_RUN) from None
    store, token, draft = Store(capture.context), new_token(), spoken(capture, None)

    def fill() -> None:
        try:
            for exchange in capture.learn(capture.exchanges(spoken=draft)):
                store.add(exchange)
        except CaptureError as problem:
            store.trouble = f"the capture is damaged: {problem}"
            output.note(f"{capture.name} is damaged: {problem}")
        finally:
            store.over = True

    stop = asyncio.Event()
    for number in endings():
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    app = application(store, {"kind": "capture", "name": capture.name})
    try:
        serving = await serve(
            app, ("127.0.0.1", port), token, lambda path: not path.startswith("/api/")
        )
    except OSError as problem:
        why = os.strerror(problem.errno) if problem.errno else str(problem)
        raise Trouble(f"can't listen: {why}; choose another --port") from None
    threading.Thread(target=fill, name="reading", daemon=True).start()
    address = f"http://{endpoint_text(serving.address)}/#token={token}"
    output.ready(address)
    if browser and output.err.is_terminal:
        await asyncio.to_thread(webbrowser.open, address)
    await stop.wait()
    await serving.stop()
    return FINE
