"""MkDocs' hook: links between docs/ and designs/, written as they are in the repository, work on the site.

The site has designs/ below docs/ (a symbolic link), so a link from one to the other goes up one folder less.
"""

from __future__ import annotations

from typing import Any


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return a page's Markdown with the links that leave its part of the repository shortened."""
    if page.file.src_uri.startswith("designs/"):
        return markdown.replace("../docs/", "../")
    return markdown.replace("../designs/", "designs/")
