"""Memo: what is asked for, on one page."""

from __future__ import annotations

from ui import frame, memo_page

view = frame.current()
t = view.t
found = memo_page.answer(view)

frame.verdict(view, memo_page.verdict(view, found), memo_page.line(t))
frame.old_data(view)
memo_page.draw(view, found)
