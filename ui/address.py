"""The address bar: which query the page answers, what is written back, and the links handed out.

Widgets are not bound to the query. The app decodes it before any widget exists and writes the
whole of it at the end of a run, so that reload, Back and Forward work as restore, undo and redo.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.catalogue import Catalogue
from core.link import full_link, short_link
from core.memo import TEXT_PARAMS
from core.packed_link import PARAM, expand
from core.report import Report
from core.scenario import PRIVATE_FIELDS, Scenario
from ui import migration_inputs
from ui.i18n import is_language_code

LANGUAGE_PARAM = "lang"
# How a page is looked at; no part of the scenario.
VIEW_PARAMS = ("axis", "path", "done", "skill", "size", "agents", "today", "target")
_VIEW_VALUE_LENGTH = 16
MAX_TEXT_CHARS = 400  # of an author's text that is looked at; what is kept of it is shorter


def split(params: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Parameters of the scenario, and those of the view (language, chart axis).

    A short link is what it holds; one that cannot be read whole stays among the scenario's, whose reader says so.
    View parameters that cannot be real are dropped, so that nothing hostile is kept in the address.

    >>> split({"chips": "64", "lang": "zh", "axis": "tokens"})
    ({'chips': '64'}, {'lang': 'zh', 'axis': 'tokens'})
    """
    held, problem = expand(params)
    scenario, view = {PARAM: params[PARAM]} if problem else {}, {}
    for name, value in held.items():
        if name == LANGUAGE_PARAM:
            if is_language_code(value):
                view[name] = value
        elif name in migration_inputs.PARAMS:
            if value:
                view[name] = value[: migration_inputs.MAX_CHARS]  # what it is, settles like a scenario's number
        elif name in TEXT_PARAMS or name == "paper":
            if value:
                view[name] = value[:MAX_TEXT_CHARS]  # cleaned when it settles
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
    """The absolute address of this page with this scenario; relative when the browser's is unknown."""
    return full_link(report, catalogue, view, base=st.context.url or "", private=private)


def short(report: Report, catalogue: Catalogue, view: Mapping[str, str], *, private: bool = False) -> str:
    """The same address in its short form."""
    return short_link(report, catalogue, view, base=st.context.url or "", private=private)


def left_out(scenario: Scenario, view: Mapping[str, str]) -> tuple[str, ...]:
    """Names of what a link without company numbers does not say, for the line under it."""
    names = [name for name in PRIVATE_FIELDS if getattr(scenario, name) not in (None, ())]
    if any(p.quote_usd_per_chip_hour is not None for p in scenario.platforms):
        names.append("quotes")
    names += [param for param in sorted(migration_inputs.PRIVATE_PARAMS) if param in view]
    if any(param in view for param in TEXT_PARAMS):
        names.append("memo")
    return tuple(names)
