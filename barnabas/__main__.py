"""`python -m barnabas`: the command line."""

from __future__ import annotations

from barnabas.entry import main

if __name__ == "__main__":
    main()
