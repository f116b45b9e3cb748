"""The clients: a module each, with the same jobs, run as `python -m tests.compat.clients.NAME JOB ASKED`."""
