"""Which lines of a target its cases reach: by JaCoCo's agent, by Go's covered builds, by coverage.py.

`lines.py` says what all of them come to; each language has a file with its meter. Programs tell what they
passed (`probes.py`) whenever they are asked (`agent.py`).
"""
