"""Migration: does leaving the GPU pay?"""

from __future__ import annotations

from ui import frame, migration_code, migration_view, wording

view = frame.current()
scan = migration_code.found()
found = migration_view.answer(view, scan)

frame.verdict(view, view.t.message(found.verdict), wording.scenario_line(view.report, view.t))
frame.old_data(view)
migration_view.draw(view, found, scan)
