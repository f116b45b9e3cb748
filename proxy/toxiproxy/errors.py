"""What the API refuses, in toxiproxy's words, with the HTTP status of each."""

from __future__ import annotations

from typing import Final


class ApiError(Exception):
    """A request is refused."""

    def __init__(self, message: str, status: int = 500) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


PROXY_NOT_FOUND: Final = "proxy not found", 404
PROXY_EXISTS: Final = "proxy already exists", 409
TOXIC_NOT_FOUND: Final = "toxic not found", 404
TOXIC_EXISTS: Final = "toxic already exists", 409
INVALID_TYPE: Final = "invalid toxic type", 400
INVALID_STREAM: Final = "stream was invalid, can be either upstream or downstream", 400


def bad_body(why: object) -> ApiError:
    """The body can't be read, or is not what was expected."""
    return ApiError(f"bad request body: {why}", 400)


def missing(field: str) -> ApiError:
    """A field that must be given."""
    return ApiError(f"missing required field: {field}", 400)
