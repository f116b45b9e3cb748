"""The reference pages of docs/, made from the code: `python -m tests.docs.reference` writes them.

One file beside this one is one page there, or two. A page is a function without arguments that returns
Markdown; `pages.py` lists them, and a test compares what they return with what is committed.
"""

from tests.docs.reference.pages import write

if __name__ == "__main__":
    write()
