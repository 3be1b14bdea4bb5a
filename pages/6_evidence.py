"""Evidence: what do the numbers rest on, and how far can they be off?"""

from __future__ import annotations

from ui import evidence_run_tabs, evidence_runs, evidence_tables, frame

view = frame.current()

frame.verdict(view, evidence_runs.errors_verdict(view.catalogue, view.t), evidence_runs.runs_line(view))
frame.old_data(view)
choice = evidence_runs.draw(view)
if not view.embedded:
    evidence_tables.facts_tabs(view, view.catalogue, before=evidence_run_tabs.tabs(view, choice))
