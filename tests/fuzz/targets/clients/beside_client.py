"""A client program of the tests' own that runs its sessions side by side, each in a thread.

The body of the answer is a word: die, hang, patient (the session ends when it is said to be over), unsure (it
raises what may be another session's, if there are others). Anything else is a valid answer.
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

from tests.fuzz.targets.clients.own_client import asked, die

running: dict[int, threading.Event] = {}
speaking = threading.Lock()


def session(number: int, run: str, bootstrap: str) -> None:
    word = asked(bootstrap) if run == "consume" else b""
    raised: dict[str, Any] | None = None
    if word == b"die":
        die()
    elif word == b"hang":
        threading.Event().wait()
    elif word == b"patient":
        running[number].wait()
    elif word == b"unsure" and len(running) > 1:
        raised = {"class": "own.Undocumented", "bases": [], "message": "m", "frames": []}
        raised |= {"where": "thread", "unsure": True}
    with speaking:
        del running[number]
        print(json.dumps({"number": number, "records": 1, "raised": raised}), flush=True)


def main() -> None:
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        found = json.loads(line)
        number = found["number"]
        if found.get("over"):
            if number in running:
                running[number].set()
            continue
        running[number] = threading.Event()
        about = number, found["run"], found["bootstrap"]
        threading.Thread(target=session, args=about, daemon=True).start()


if __name__ == "__main__":
    main()
