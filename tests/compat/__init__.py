"""The compatibility table: brokers and clients of many versions do the same directly and through the proxy.

`python -m tests.compat` runs it and prints it; test_compat.py has what continuous integration runs.
"""
