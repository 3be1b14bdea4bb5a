"""What every page has around its content: the context it reads, messages, chart cards, links."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.catalogue import Catalogue, load_catalogue
from core.messages import InputError, Message
from core.moved import moved, sentences
from core.numbers import NBSP
from core.report import Report
from core.scenario import Scenario
from ui import address, controls, markup, saving, site, wording
from ui.charts.base import Chart
from ui.controls import Desk
from ui.i18n import Translator
from ui.pictures import Foot, foot_of
from ui.theme import Scheme

LOG = logging.getLogger("compute_reckoner")
VIEW = "view"
CHART_CONFIG = {"displayModeBar": False}

_BOLD = re.compile(r"\*\*")


@dataclass(frozen=True)
class View:
    """What a page reads: the answer of this run and the place for its verdict.

    ``last`` is what draws once all else stands and the address is written, in places kept for it.
    """

    t: Translator
    scheme: Scheme
    desk: Desk
    catalogue: Catalogue
    scenario: Scenario
    report: Report
    slot: DeltaGenerator
    last: list[Callable[[], None]] = field(default_factory=list)
    # In another site's frame: the answer, its sliders and charts, and nothing below them.
    embedded: bool = field(default_factory=lambda: bool(st.context.is_embedded))

    def file_name(self, name: str, ending: str = "csv") -> str:
        """A file name that says what and of which day: ``cost-against-time-2026-11-30.csv``."""
        return f"{name}-{self.report.snapshot.split('+')[0]}.{ending}"

    def drawn(self, draw: Callable[[Scheme], Chart], source: str = "", line: str = "") -> Chart:
        """The chart in the reader's colours, which can be drawn again in those of print.

        ``source``: what it rests on, where that is not prices alone; ``line``: what it is of, where not the scenario.
        """
        return replace(draw(self.scheme), printed=lambda: draw("print"), source=source, line=line)

    @cached_property
    def foot(self) -> Foot:
        """What stands under every chart of this run."""
        link = address.short(self.report, self.catalogue, self.desk.view)
        return foot_of(self.report, self.catalogue, link, self.t)


def current() -> View:
    """The view of this run. A page's file that runs without its frame runs the entry file instead."""
    view: View | None = st.session_state.get(VIEW)
    return site.enter() if view is None else view


def give_way() -> None:
    """Let a newer run of this reader take over. Streamlit stops a run only at its own calls; this one sends nothing."""
    VIEW in st.session_state  # noqa: B015


def escape(text: str) -> str:
    """Text of any origin as markdown that shows exactly it: no images, links, formulas or colours."""
    return wording.markdown(" ".join(text.split("\n")))


def rich(text: str) -> str:
    """As :func:`escape`, but ``**bold**`` stays bold: for sentences written in core."""
    return "**".join(escape(part) for part in _BOLD.split(text))


def small(text: str) -> str:
    """Small grey text for scenario lines and subtitles; ``st.caption`` is too pale on white."""
    return f":small[:gray[{rich(text)}]]"


def verdict(view: View, text: str, line: str) -> None:
    """Fill the verdict's place: the sentence, the scenario line, and what had to be changed."""
    with view.slot:
        st.header(rich(wording.together(text)), anchor=False)
        # A line of it ends with its separator rather than starting with one.
        st.markdown(small(wording.together(line).replace(" · ", f"{NBSP}· ")))
        messages(view, (*view.desk.messages, *view.report.messages))


def messages(view: View, found: Iterable[Message]) -> None:
    """Core's messages, one short line each, a repeated one once."""
    icons = {"error": ":red[:material/error:]", "warning": ":material/info:", "note": ":material/info:"}
    for text, severity in dict.fromkeys((view.t.message(m), m.severity) for m in found):
        st.markdown(f":small[{icons[severity]} {rich(text)}]")


def chart_card(view: View, chart: Chart, selector: Callable[[], object] | None = None, legend: str = "") -> None:
    """A chart in its frame: the finding, what is drawn, the figure; of what, from when and where it can be had again.

    ``selector`` draws a control at the right; ``legend`` is HTML that names the colours, for charts of many marks.
    """
    with st.container(border=True, key=f"card_{chart.key}", height="stretch", gap=None):
        if selector is None:
            _heading(chart)
        else:
            with st.container(horizontal=True, vertical_alignment="top", gap="small"):
                with st.container(width="stretch", gap=None):
                    _heading(chart)
                selector()
        if legend:
            st.html(legend)
        if chart.figure is None:
            st.markdown(small(chart.empty))
        else:
            st.plotly_chart(
                chart.figure,
                key=f"chart_{chart.key}",
                theme="streamlit",
                config=CHART_CONFIG,
                alt=chart.alt or chart.title,
            )
        foot = replace(view.foot, line=chart.line or view.foot.line, source=chart.source or view.foot.source)
        st.html(
            markup.chart_foot(
                map(wording.together, (foot.line, foot.source, foot.day)), foot.link, menu=not view.embedded
            )
        )
        if not view.embedded:
            saving.menu(view, chart, foot)


def _heading(chart: Chart) -> None:
    below = f"  \n{small(chart.subtitle)}" if chart.subtitle else ""
    st.markdown(f"**{escape(chart.title)}**{below}")


def page_links(view: View, pages: Sequence[tuple[Any, str]]) -> None:
    """At the foot, links between the pages, as a phone hides the navigation at the top; in a frame the way out."""
    with st.container(horizontal=True, key="page_links"):
        if view.embedded:
            whole = address.link(view.report, view.catalogue, view.desk.view)
            st.link_button(view.t("Open with all settings"), whole, type="tertiary", icon=":material/open_in_new:")
            return
        for page, title in pages:
            st.page_link(page, label=title)


def expander(label: str, key: str, draw: Callable[[], None]) -> None:
    """An expander whose content is made only while it is open: closed widgets would cost every run."""
    box = st.expander(label, key=key, on_change="rerun")
    if box.open:
        with box:
            draw()


# What is wrong with the installation itself: no scenario avoids it, so that Reset would only seem a way out.
BEYOND_RESET = ("calibration_unreadable",)


@contextmanager
def guarded(t: Translator, reset: Callable[[], None] | None) -> Iterator[None]:
    """Whatever fails inside, the reader gets one sentence and, with ``reset``, a way out. The log has the trace."""
    try:
        yield
    except Exception as error:
        LOG.exception("a view could not be drawn")
        said = t("This view could not be drawn.")
        if isinstance(error, InputError):  # broken data say where they are broken
            said += " " + escape(t.message(error.problem))
            if error.problem.code in BEYOND_RESET:
                reset = None
        if reset is not None:
            said += " " + t("Reset brings back the preset's values; the link in the address bar still holds yours.")
        st.error(said, icon=":material/error:")
        if reset is not None:
            st.button(t("Reset"), key="reset_after_error", on_click=reset)


def old_data(view: View) -> None:
    """Say that the link was made with older data or another model, what moved since, and offer today's data."""
    _what_moved(view)
    if view.catalogue.snapshot == load_catalogue().snapshot:
        return
    said = view.t("Prices and runs of {snapshot}, as the link asked.", snapshot=view.catalogue.snapshot)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":small[:material/history: {escape(said)}]", width="content")
        st.button(view.t("Use current data"), key="current_data", type="tertiary", on_click=_use_current)


def _what_moved(view: View) -> None:
    """Of the link that was opened, while its scenario stands: its total then and now, and on a click what moved."""
    link = view.desk.link
    found = moved(link[0], view.report, view.catalogue) if link and link[1] == view.scenario else None
    if found is None:
        return
    first, *rest = (view.t.message(m) for m in sentences(found))

    def lines() -> None:
        st.markdown("\n".join(f"- {small(line)}" for line in rest))

    expander(rich(f"{view.t('What moved since this link')} · {first}"), "open_moved", lines)


def _use_current() -> None:
    controls.desk().catalogue = load_catalogue()
    controls.change()
