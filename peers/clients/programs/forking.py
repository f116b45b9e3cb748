"""A process that has loaded a client's library and forks one for each that is asked for, which loads nothing
more; beside `lines.py`.

Nothing has run by then: no thread, no client. Its stdin is a socket. A byte comes with four descriptors: what
the new process has as stdin, stdout and stderr, and where its exit code is told, as text. The process says
its id there once it leads a session of its own. All ends with the socket.
"""

from __future__ import annotations

import os
import signal
import socket
from contextlib import suppress
from typing import Any

_ENDS = {signal.SIGCHLD}


def fork() -> bool:
    """Serve, and return True in each process that is asked for; False once there will be no more."""
    control = socket.socket(fileno=os.dup(0))
    told: dict[int, int] = {}

    def ended(*_: Any) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                with suppress(OSError):  # nobody wants to know any more
                    os.write(told[pid], b"%d" % os.waitstatus_to_exitcode(status))
                os.close(told.pop(pid))

    signal.signal(signal.SIGCHLD, ended)
    while True:
        asked, own, _, _ = socket.recv_fds(control, 1, 4)
        if not asked:
            return False
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)  # until `told` knows it
        pid = os.fork()
        if not pid:
            break
        told[pid] = own[3]
        for one in own[:3]:
            os.close(one)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
    os.setsid()
    control.sendall(b"%d\n" % os.getpid())
    control.close()
    for number, one in enumerate(own[:3]):
        os.dup2(one, number)
    for one in (*own, *told.values()):
        os.close(one)
    return True
