"""`barnabas proxy`: the man-in-the-middle proxy on the command line.

`job.py` turns the options into a job, and `run.py` runs it. `traffic.py` makes the proxy, in this process or
in workers, and the streams between the processes. `log_stream.py` writes the log's stream, `log_process.py`
starts the process that reads it, and `log_reader.py` is that process. `run_passthrough.py` and
`run_toxiproxy.py` are the proxies of `--tls-passthrough` and `--toxiproxy`.
"""
