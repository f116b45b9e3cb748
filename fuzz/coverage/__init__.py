"""Lines of a target that its cases reach: by JaCoCo's agent, Go's covered builds, or coverage.py.

`lines.py` has the common result; each language has a file with its meter. Programs report the probes that
they passed (`probes.py`) on request (`agent.py`).
"""
