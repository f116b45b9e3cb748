"""Tests that are coroutines run in an event loop as the proxy's own."""

from tests.proxy.control.conftest import pytest_pyfunc_call  # noqa: F401
