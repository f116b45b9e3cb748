"""Describe exchanges of each API that clients use: a few words from fields of request and response.

`barnabas.captures.kafka.log_line` lists the fields that each function gets. Any of them may be missing, since
the version lacks it, or there is no body. Secrets are never shown.
"""
