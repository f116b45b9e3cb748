"""How the SDK speaks HTTP to a collector: what that answers is bounded, and a redirection is a refusal."""

from __future__ import annotations

from io import BytesIO
from typing import Any, Final

import requests
from requests.adapters import HTTPAdapter

LONGEST: Final = 64 << 10
"""Bytes of an answer that are read: nothing in it matters but its status."""


def session() -> requests.Session:
    """One for a collector."""
    found = requests.Session()
    for scheme in ("http://", "https://"):
        found.mount(scheme, _Adapter())
    return found


class _Adapter(HTTPAdapter):
    def send(
        self, request: requests.PreparedRequest, stream: bool = False, *arguments: Any, **more: Any
    ) -> requests.Response:
        answer = super().send(request, True, *arguments, **more)
        length = answer.headers.get("Content-Length", "")
        if not (length.isdecimal() and int(length[:9]) <= LONGEST):
            answer.close()
            answer.raw = BytesIO()
        if 300 <= answer.status_code < 400:
            answer.status_code = 400  # the SDK takes a redirection for a success, and goes nowhere
        return answer
