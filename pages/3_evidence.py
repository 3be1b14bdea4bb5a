"""Evidence: what do the numbers rest on?"""

from __future__ import annotations

from ui import evidence_tables, frame, wording

view = frame.current()

frame.verdict(view, evidence_tables.facts_verdict(view.catalogue, view.t), wording.scenario_line(view.report, view.t))
frame.old_data(view)
evidence_tables.facts_tabs(view, view.catalogue)
