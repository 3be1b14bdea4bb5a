"""The address bar: which query the page answers, what is written back, and the links handed out.

Widgets are not bound to the query. The app decodes it before any widget exists and writes the
whole of it at the end of a run, so that reload, Back and Forward work as restore, undo and redo.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.catalogue import Catalogue
from core.link import encode, preset_scenario, query
from core.report import Report
from core.scenario import PRIVATE_FIELDS, Scenario
from ui import migration_inputs
from ui.i18n import is_language_code

LANGUAGE_PARAM = "lang"
# How a page is looked at; no part of the scenario.
VIEW_PARAMS = ("axis", "path", "done", "skill", "size", "agents", "today", "target")
_VIEW_VALUE_LENGTH = 16
# Of the private fields.
IN_CASH_TOTAL = ("credits_usd", "new_hires", "engineer_usd_per_year", "setup_weeks", "measured")


def split(params: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Parameters of the scenario, and those of the view (language, chart axis).

    View parameters that cannot be real are dropped, so that nothing hostile is kept in the address.

    >>> split({"chips": "64", "lang": "zh", "axis": "tokens"})
    ({'chips': '64'}, {'lang': 'zh', 'axis': 'tokens'})
    """
    scenario, view = {}, {}
    for name, value in params.items():
        if name == LANGUAGE_PARAM:
            if is_language_code(value):
                view[name] = value
        elif name in migration_inputs.PARAMS:
            if value:
                view[name] = value[: migration_inputs.MAX_CHARS]  # what it is, settles like a scenario's number
        elif name in VIEW_PARAMS:
            if value.isascii() and value.isalpha() and len(value) <= _VIEW_VALUE_LENGTH:
                view[name] = value
        else:
            scenario[name] = value
    return scenario, view


def reader_navigated(
    incoming: Mapping[str, str],
    written: Mapping[str, str],
    moved: bool,
    *,
    before: Mapping[str, str] | None = None,
    by_history: bool | None = None,
) -> bool:
    """Whether the reader went Back, Forward or edited the address since the last run.

    A widget that moved wins, because some clients send their first query for ever. An empty query
    never counts: Streamlit clears it when the page changes. Nor does the query written ``before``
    the last one, when Streamlit knows that no history was involved (``by_history``): the browser
    had not yet shown the last one when the reader clicked.

    >>> reader_navigated({"chips": "64"}, {"chips": "128"}, moved=False)
    True
    >>> reader_navigated({}, {"chips": "128"}, moved=False)
    False
    """
    if by_history is False and before is not None and dict(incoming) == dict(before):
        return False
    return bool(incoming) and not moved and dict(incoming) != dict(written)


def by_history() -> bool | None:
    """Whether the browser's Back or Forward asked for this run; ``None`` when Streamlit does not say."""
    return getattr(get_script_run_ctx(), "is_history_navigation", None)


def incoming() -> dict[str, str]:
    """The query of this run; of a repeated parameter, the last value. Without Streamlit's own parameters."""
    return dict(st.query_params.to_dict())


def write(params: Mapping[str, str]) -> None:
    """Show ``params`` in the address bar, unless they are there already."""
    if incoming() != dict(params):
        st.query_params.from_dict(dict(params))


def link(report: Report, catalogue: Catalogue, view: Mapping[str, str], *, private: bool = False) -> str:
    """The absolute address of this page with this scenario; relative when the browser's is unknown.

    It records the total of the focus for the day the model has moved on, unless that would give away
    what a link without company numbers leaves out.
    """
    bills, scenario = report.focus.bills, report.scenario
    total = bills["cash"].total_usd if bills and (private or not _private_total(scenario, catalogue)) else None
    shown = {k: v for k, v in view.items() if private or k not in migration_inputs.PRIVATE_PARAMS}
    text = query({**encode(scenario, catalogue, private=private, total_usd=total), **shown})
    base = st.context.url
    if not base:
        return f"?{text}"
    scheme, host, path, _, _ = urlsplit(base)
    return urlunsplit((scheme, host, path or "/", text, ""))


def _private_total(scenario: Scenario, catalogue: Catalogue) -> bool:
    """Whether company numbers are in the cash total: an own quote, or another value than the preset's."""
    preset = preset_scenario(scenario.preset, catalogue)
    own = any(getattr(scenario, name) != getattr(preset, name) for name in IN_CASH_TOTAL)
    return own or any(p.quote_usd_per_chip_hour is not None for p in scenario.platforms)


def left_out(scenario: Scenario, view: Mapping[str, str]) -> tuple[str, ...]:
    """Names of what a link without company numbers does not say, for the line under it."""
    names = [name for name in PRIVATE_FIELDS if getattr(scenario, name) not in (None, ())]
    if any(p.quote_usd_per_chip_hour is not None for p in scenario.platforms):
        names.append("quotes")
    names += [param for param in sorted(migration_inputs.PRIVATE_PARAMS) if param in view]
    return tuple(names)
