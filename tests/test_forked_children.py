"""What tests/conftest.py does for processes that tests fork."""

from __future__ import annotations

import gc
import os

import pytest


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_looks_for_no_garbage() -> None:
    child = os.fork()
    if not child:
        os._exit(gc.isenabled())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert gc.isenabled()
