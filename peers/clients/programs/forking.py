"""A process that has loaded a client's library and forks a process for each request; beside `lines.py`.

It has no threads and no clients when it forks. Its stdin is a socket. Each request is one byte with four
descriptors: the new process's stdin, stdout and stderr, and one that gets its exit code as text. The new
process writes its id to the socket once it leads a session of its own. At the end of the socket, the process
exits.
"""

from __future__ import annotations

import os
import signal
import socket
from contextlib import suppress
from typing import Any

_ENDS = {signal.SIGCHLD}


def fork() -> bool:
    """Fork a process for each request, and return True in it; False once there are no more requests."""
    control = socket.socket(fileno=os.dup(0))
    exit_pipes: dict[int, int] = {}

    def ended(*_: Any) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                with suppress(OSError):  # the requester has gone
                    os.write(exit_pipes[pid], b"%d" % os.waitstatus_to_exitcode(status))
                os.close(exit_pipes.pop(pid))

    signal.signal(signal.SIGCHLD, ended)
    while True:
        request, descriptors, _, _ = socket.recv_fds(control, 1, 4)
        if not request:
            return False
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)  # until `exit_pipes` has it
        pid = os.fork()
        if not pid:
            break
        exit_pipes[pid] = descriptors[3]
        for descriptor in descriptors[:3]:
            os.close(descriptor)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDS)
    os.setsid()
    control.sendall(b"%d\n" % os.getpid())
    control.close()
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    for descriptor in (*descriptors, *exit_pipes.values()):
        os.close(descriptor)
    return True
