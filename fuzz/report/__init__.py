"""Reports of campaigns from a database, as text, Markdown, HTML and scripts."""
