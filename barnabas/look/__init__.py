"""The look of everything that barnabas shows in a browser: one stylesheet and a few parts.

Five pages use it: the live page (`page/`), the analysis (`pipeline/report/`), the reports of `fuzz` and
`conform`, and the clients' table. `static/look.css` has the colours and the components (head, figures, bars,
tables, badges, code, states); `html` makes a page of one file with them; `static/` also has what several
pages run: `text.js`, `lanes.js` (the lanes of a group's members), `table_menu.js` (sorts rows, hides columns)
and `copy.js` (copies code). Each page's own folder has only what no other page shows.
"""
