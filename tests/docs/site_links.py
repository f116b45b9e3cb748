"""MkDocs' hook: links between docs/ and other folders, as they are in the repository, work on the site.

The site has designs/ and the fixtures' READMEs below docs/ (symbolic links), so a link from one to the other
goes up fewer folders.
"""

from __future__ import annotations

from typing import Any, Final

FIXTURES: Final = {"go/barnabastest": "go", "java": "java", "js": "javascript"}
"""The fixtures' folders, and their pages in languages/."""


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return a page's Markdown with the links that leave its part of the repository shortened."""
    if page.file.src_uri.startswith("languages/"):
        return markdown.replace("../../docs/", "../").replace("../docs/", "../")
    if page.file.src_uri.startswith("designs/"):
        return markdown.replace("../docs/", "../")
    for folder, name in FIXTURES.items():
        markdown = markdown.replace(f"../{folder}/README.md", f"languages/{name}.md")
    return markdown.replace("../designs/", "designs/")
