"""Tests that are coroutines run in an event loop as the proxy's own."""

from __future__ import annotations

import inspect

import pytest

from barnabas.loop import run


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine."""
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None
    names = inspect.signature(test).parameters
    run(test(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
