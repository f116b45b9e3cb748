"""What runs in a JVM's process: `python -m tests.proxy.network.java_principals JAVA`.

Reads certificates (DER in hex, a line each), and answers each with the name that Kafka's
DefaultKafkaPrincipalBuilder asks the TLS session's principal for, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import jpype

from barnabas.peers.apache.client_process import library


def main(program: str) -> None:
    """Answer until there are no more."""
    answers = os.fdopen(os.dup(1), "w")  # whatever Java prints must not stand between the answers
    os.dup2(2, 1)
    jpype.startJVM(library(Path(program)), "-Xmx64m")
    factory = jpype.java.security.cert.CertificateFactory.getInstance("X.509")
    for line in sys.stdin:
        data = jpype.java.io.ByteArrayInputStream(jpype.JArray(jpype.JByte)(bytes.fromhex(line)))
        name = factory.generateCertificate(data).getSubjectX500Principal().getName()
        answers.write(json.dumps(str(name)) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
