"""The HTTP session of OpenTelemetry's SDK: responses are bounded, and a redirection is an error."""

from __future__ import annotations

from io import BytesIO
from typing import Any, Final

import requests
from requests.adapters import HTTPAdapter

LONGEST: Final = 64 << 10
"""The most bytes of a response that are read: only its status matters."""


def session() -> requests.Session:
    """Return a session for a collector."""
    http_session = requests.Session()
    for scheme in ("http://", "https://"):
        http_session.mount(scheme, _Adapter())
    return http_session


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
            answer.status_code = 400  # the SDK would count a redirection as success
        return answer
