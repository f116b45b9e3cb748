"""The refusals of the API, in toxiproxy's words, each with its HTTP status."""

from __future__ import annotations

from typing import Final


class ApiError(Exception):
    """The refusal of a request."""

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


def bad_body(reason: object) -> ApiError:
    """Return the error that a body is unreadable or unexpected."""
    return ApiError(f"bad request body: {reason}", 400)


def missing(field: str) -> ApiError:
    """Return the error that a required field is missing."""
    return ApiError(f"missing required field: {field}", 400)
