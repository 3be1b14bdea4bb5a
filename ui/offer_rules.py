"""The chosen offer in the sidebar: its region, its rules in plain words, and the own quote beside the median."""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from core.catalogue import Catalogue
from core.numbers import rate
from core.offer_lines import offer_lines, offer_notes, quote_line
from core.offer_rules import cheapest_first, rented
from core.report import PlatformEstimate
from core.scenario import Platform
from ui import frame
from ui.controls import use
from ui.frame import View, rich, small
from ui.i18n import Translator
from ui.wording import together

REGION = "w_edit_region"


@lru_cache(maxsize=256)
def _prices(catalogue: Catalogue, accelerator_id: str, plan: str, provider: str) -> dict[str, float]:
    """Price by region, cheapest first."""
    found: dict[str, float] = {}
    for offer in cheapest_first(catalogue, accelerator_id, plan, provider):
        found.setdefault(offer.region, offer.usd_per_chip_hour)
    return found


def provider_of(platform: Platform, catalogue: Catalogue) -> str:
    """Who rents a platform out: as chosen, or as its default offer has it."""
    offer = rented(platform, catalogue).offer
    return platform.provider or (offer.provider if offer else "")


def regions_of(platform: Platform, catalogue: Catalogue) -> dict[str, float]:
    """Regions in which the platform's provider has a price on its plan, cheapest first."""
    return _prices(catalogue, platform.accelerator_id, platform.plan, provider_of(platform, catalogue))


def draw_region(view: View, platform: Platform) -> None:
    """The box to choose a region; none where there is one price for all."""
    t, prices = view.t, regions_of(platform, view.catalogue)
    if len(prices) < 2 and not platform.region:
        return
    codes = list(dict.fromkeys(("", *prices, platform.region)))
    st.selectbox(
        t("Region"),
        codes,
        key=use(REGION),
        format_func=lambda code: _region_name(t, code, prices),
        help=t("Of the same provider and plan, cheapest first."),
    )


def _region_name(t: Translator, code: str, prices: dict[str, float]) -> str:
    if not code:
        return t("any, as the default offer")
    return f"{code} · {rate(prices[code])}" if code in prices else t("{region}, no price", region=code)


def draw_quote(view: View, p: PlatformEstimate) -> None:
    """The own quote against the market median."""
    line = quote_line(p)
    if line is not None:
        st.markdown(small(together(view.t.message(line))))


def draw(view: View, p: PlatformEstimate) -> None:
    """What the offer binds one to, and where this scenario runs into it."""
    t = view.t
    lines = [f"**{t.message(line.name)}:** {t.message(line.text)}" for line in offer_lines(p, view.catalogue)]
    st.markdown("  \n".join(f":small[{rich(together(line))}]" for line in lines))
    notes = offer_notes(p, view.catalogue)
    if notes:
        st.markdown(small(t("From the tables: {notes}.", notes="; ".join(notes))))
    frame.messages(view, (m for m in p.problems if m.code.startswith("offer_")))
