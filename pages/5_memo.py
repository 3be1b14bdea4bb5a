"""Memo: what is asked for, on one page."""

from __future__ import annotations

from ui import frame, memo_page

view = frame.current()
t = view.t
found = memo_page.answer(view)

frame.verdict(view, t("**One page to decide on.** {validity}.", validity=t.message(found.validity)), memo_page.line(t))
frame.old_data(view)
memo_page.draw(view, found)
