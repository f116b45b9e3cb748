"""What the tests of a part catch: bugs put into its functions, one at a time, and the tests that notice.

`make mutants PART=proxy/connection` draws mutants of that part (`operators.py`), runs for each the tests that
call the changed function until one fails (`session.py`, `children.py`), and lists those that none noticed
(`report.py`). `code_swap.py` puts changed code into running functions.

Limits: constants and tables at the top of a module are not changed, since they are made once, at import.
"""
