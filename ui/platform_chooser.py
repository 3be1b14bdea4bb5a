"""Which platforms are compared, on which offers: price plan, on and off, adding, and editing an offer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import get_args

import streamlit as st

from core.catalogue import Catalogue, Offer
from core.link import format_platform, parse_platform
from core.numbers import parse_count, rate
from core.report import Report
from core.scenario import MAX_PLATFORMS, Plan, Platform, Scenario, platform_keys
from ui import controls, offer_rules, price_sheet, wording
from ui.controls import Control, Desk, Values, use, write_count
from ui.frame import View, escape, expander
from ui.i18n import Translator

MIXED = "mixed"
_ADD = "w_add"
_QUOTE = "w_edit_quote"
ELSEWHERE = ("offer_region_none", "offer_provider_none")  # there is a price, with another provider or region


def plan_name(t: Translator, plan: str) -> str:
    """A price plan as a choice in a box."""
    name = t("mixed") if plan == MIXED else wording.plan_name(plan, t)
    return name[:1].upper() + name[1:]


def platform_name(t: Translator, platform: Platform, catalogue: Catalogue, usual_plan: str) -> str:
    """A platform on a pill: chip, provider where one is chosen, plan where it is not the usual one.

    ``usual_plan`` is the plan that needs no naming, or :data:`MIXED`.
    """
    chip = catalogue.accelerators[platform.accelerator_id].short_name
    parts = [chip, platform.provider, platform.region]
    if platform.plan != usual_plan:
        parts.append(wording.plan_name(platform.plan, t))
    if platform.quote_usd_per_chip_hour is not None:
        parts.append(t("own quote"))
    return " ".join(part for part in parts if part)


# Values of the widgets


def common_plan(platforms: Sequence[Platform]) -> str:
    """The plan all platforms share, else :data:`MIXED`."""
    plans = {platform.plan for platform in platforms}
    return plans.pop() if len(plans) == 1 else MIXED


def _current(values: Values, desk: Desk) -> tuple[list[Platform], int, int]:
    """The platforms, the place of the focus and that of the one being edited."""
    platforms: list[Platform] = list(values["platforms"])  # type: ignore[call-overload]
    keys = platform_keys(tuple(platforms))
    focus = keys.index(str(values["focus"])) if values["focus"] in keys else 0
    return platforms, focus, keys.index(desk.editing) if desk.editing in keys else focus


def _replace(values: Values, desk: Desk, platforms: Sequence[Platform], focus: int, edited: int | None) -> None:
    """Put platforms into the scenario, with the focus and the one being edited (None: the focus) at these places."""
    keys = platform_keys(tuple(platforms))
    values["platforms"], values["focus"] = tuple(platforms), keys[focus]
    desk.editing = "" if edited is None else keys[edited]


def _take_plan(values: Values, value: object, desk: Desk) -> None:
    if value not in get_args(Plan):
        return
    platforms, focus, edited = _current(values, desk)
    desk.bench = tuple(p.model_copy(update={"plan": value}) for p in desk.bench)
    desk.benched = {p.model_copy(update={"plan": value}) for p in desk.benched}
    moved = [p.model_copy(update={"plan": value}) for p in platforms]
    _replace(values, desk, moved, focus, edited if desk.editing else None)


def _show_platforms(scenario: Scenario, report: Report, desk: Desk) -> object:
    """What is in the scenario, among the pills: those and what was switched off, in a steady order."""
    kept = [p for p in desk.bench if p in scenario.platforms or p in desk.benched]
    desk.bench = tuple(dict.fromkeys((*kept, *scenario.platforms)))
    desk.benched -= set(scenario.platforms)
    return [format_platform(p) for p in desk.bench if p in scenario.platforms]


def _take_platforms(values: Values, value: object, desk: Desk) -> None:
    wanted = {str(text) for text in value}  # type: ignore[attr-defined]
    platforms, focus, edited = _current(values, desk)
    after = [p for p in platforms if format_platform(p) in wanted]
    after += [p for p in desk.bench if format_platform(p) in wanted and p not in after]
    desk.refused = len(after) > MAX_PLATFORMS
    if not after or desk.refused:
        return  # the last platform stays
    desk.benched |= {p for p in platforms if p not in after}
    before, editing = platforms[focus], platforms[edited] if desk.editing else None
    stays = before in after
    place = after.index(editing) if editing in after else None
    _replace(values, desk, after, after.index(before) if stays else 0, place)
    if not stays and desk.report is not None:
        now = str(values["focus"])
        values["chips"] = next((e.size.chips for e in desk.report.platforms if e.id == now), values["chips"])
        values["mfu"] = None  # it was the value of the chip that has left


def _edited(desk: Desk) -> Platform:
    platforms, _, edited = _current({"platforms": desk.scenario.platforms, "focus": desk.scenario.focus}, desk)
    return platforms[edited]


def _show_editing(scenario: Scenario, report: Report, desk: Desk) -> object:
    return desk.editing if desk.editing in platform_keys(scenario.platforms) else scenario.focus


def _take_editing(values: Values, value: object, desk: Desk) -> None:
    desk.editing = str(value)
    desk.unread.pop(_QUOTE, None)  # it was about another platform


def _offer_code(platform: Platform) -> str:
    return f"{platform.plan}~{platform.provider}~{platform.region}"


def _platform_of(offer: Offer) -> Platform:
    return Platform(accelerator_id=offer.accelerator_id, plan=offer.plan, provider=offer.provider, region=offer.region)  # type: ignore[arg-type]


def _show_offer(scenario: Scenario, report: Report, desk: Desk) -> object:
    return _offer_code(_edited(desk))


def _take_offer(values: Values, value: object, desk: Desk) -> None:
    plan, provider, region = str(value).split("~", 2)
    _edit(values, desk, plan=plan, provider=provider, region=region)
    desk.unread.pop(_QUOTE, None)


def _show_region(scenario: Scenario, report: Report, desk: Desk) -> object:
    return _edited(desk).region


def _take_region(values: Values, value: object, desk: Desk) -> None:
    """A region of whoever rents it out now: another one's may be dearer."""
    platforms, _, edited = _current(values, desk)
    kept = platforms[edited].provider
    provider = offer_rules.provider_of(platforms[edited], desk.catalogue) if value else kept
    _edit(values, desk, region=str(value or ""), provider=provider)


def _show_quote(scenario: Scenario, report: Report, desk: Desk) -> object:
    quote = _edited(desk).quote_usd_per_chip_hour
    return "" if quote is None else write_count(quote)


def _take_quote(values: Values, value: object, desk: Desk) -> None:
    text = str(value or "").strip()
    _edit(values, desk, quote_usd_per_chip_hour=parse_count(text) if text else None)


def _edit(values: Values, desk: Desk, **update: object) -> None:
    """Change the platform being edited, wherever it is known. Raises ``ValueError`` for what it cannot be."""
    platforms, focus, edited = _current(values, desk)
    old = platforms[edited]
    platforms[edited] = Platform.model_validate({**dict(old), **update})
    desk.bench = tuple(platforms[edited] if p == old else p for p in desk.bench)
    _replace(values, desk, platforms, focus, edited)


# Taken in this order: what was typed about a platform is about the one that was being edited then.
CONTROLS = (
    Control("w_plan", lambda scenario, report, desk: common_plan(scenario.platforms), _take_plan),
    Control("w_platforms", _show_platforms, _take_platforms),
    Control(_QUOTE, _show_quote, _take_quote),
    Control("w_edit_offer", _show_offer, _take_offer),
    Control(offer_rules.REGION, _show_region, _take_region),
    Control("w_edit", _show_editing, _take_editing),
)


# Choices


@lru_cache(maxsize=256)
def _offers(catalogue: Catalogue, accelerator_id: str) -> tuple[Offer, ...]:
    return tuple(catalogue.offers_for(accelerator_id))


@lru_cache(maxsize=256)
def plans_of(catalogue: Catalogue, accelerator_id: str) -> tuple[str, ...]:
    """Plans on which a chip has a price, in the vocabulary's order."""
    known = {offer.plan for offer in _offers(catalogue, accelerator_id)}
    return tuple(plan for plan in get_args(Plan) if plan in known)


@lru_cache(maxsize=64)
def _to_add(catalogue: Catalogue, plan: str) -> tuple[str, ...]:
    """Chips with a price, each on its default offer and then by provider on ``plan``."""
    texts: list[str] = []
    for accelerator_id, accelerator in catalogue.accelerators.items():
        if accelerator.kind != "training" or not _offers(catalogue, accelerator_id):
            continue
        own_plans = plans_of(catalogue, accelerator_id)
        usual: str = plan if plan in own_plans else own_plans[0]
        providers = dict.fromkeys(o.provider for o in _offers(catalogue, accelerator_id) if o.plan == usual)
        for provider in ("", *sorted(providers)) if len(providers) > 1 else ("",):
            texts.append(format_platform(Platform(accelerator_id=accelerator_id, plan=usual, provider=provider)))  # type: ignore[arg-type]
    return tuple(texts)


@lru_cache(maxsize=1024)
def _parsed(text: str, catalogue: Catalogue) -> Platform:
    return parse_platform(text, catalogue)


def _add() -> None:
    """Callback: put the chosen platform into the scenario and empty the box."""
    text = st.session_state[_ADD]
    st.session_state[_ADD] = None
    if text:
        controls.later(lambda values, desk: _put(values, desk, _parsed(text, desk.catalogue)))


# What buttons ask for, done after what the reader moved


def _put(values: Values, desk: Desk, platform: Platform) -> None:
    platforms, _, _ = _current(values, desk)
    desk.refused = len(platforms) >= MAX_PLATFORMS
    if platform not in platforms and not desk.refused:
        values["platforms"] = (*platforms, platform)


def _remove(values: Values, desk: Desk) -> None:
    platforms, _, edited = _current(values, desk)
    gone = platforms[edited]
    _take_platforms(values, [format_platform(p) for p in platforms if p != gone], desk)
    desk.benched.discard(gone)
    desk.unread.pop(_QUOTE, None)


def _move_with_sliders(values: Values, desk: Desk, chips: int) -> None:
    platforms, _, edited = _current(values, desk)
    _replace(values, desk, platforms, edited, edited)
    values.update(chips=chips, mfu=None, mfu_scope="focus")
    desk.unread.pop(_QUOTE, None)


def _use_plan(values: Values, desk: Desk, key: str, plan: str) -> None:
    if key in platform_keys(values["platforms"]):  # type: ignore[arg-type]
        desk.editing = key
        _edit(values, desk, plan=plan)


def _use_default(values: Values, desk: Desk, key: str) -> None:
    if key in platform_keys(values["platforms"]):  # type: ignore[arg-type]
        desk.editing = key
        _edit(values, desk, provider="", region="")


# Drawing


def draw(view: View) -> None:
    """Price plan, platforms, and the box to add one; editing is in a popover."""
    t, catalogue, scenario = view.t, view.catalogue, view.scenario
    usual = common_plan(scenario.platforms)
    offered = {plan for p in scenario.platforms for plan in plans_of(catalogue, p.accelerator_id)}
    plans = [plan for plan in get_args(Plan) if plan in offered or plan == usual]
    st.selectbox(
        t("Price plan"),
        plans if usual != MIXED else [MIXED, *plans],
        key=use("w_plan"),
        format_func=lambda plan: plan_name(t, plan),
        help=t("For all platforms at once. Commitments bill the whole term, used or not."),
    )
    _without_price(view)
    key = use("w_platforms")
    labels = wording.platform_names(view.report.platforms, t)
    used = {e.platform: labels[e.id] for e in view.report.platforms}
    names = {format_platform(p): used.get(p) or platform_name(t, p, catalogue, usual) for p in view.desk.bench}
    for text in {text for text in names if list(names.values()).count(names[text]) > 1}:
        names[text] = text  # two that read alike are told apart in full
    st.pills(
        t("Platforms"),
        list(names),
        key=key,
        selection_mode="multi",
        format_func=lambda text: names.get(text, text),
    )
    if view.desk.refused:
        said = t("At most {n} platforms; switch one off first.", n=MAX_PLATFORMS)
        st.markdown(f":small[:red[{escape(said)}]]")
    full = len(scenario.platforms) >= MAX_PLATFORMS
    st.selectbox(
        t("Add a chip or an offer"),
        _to_add(catalogue, usual),
        index=None,
        key=_ADD,
        on_change=_add,
        disabled=full,
        label_visibility="collapsed",
        placeholder=t("At most {n} platforms", n=MAX_PLATFORMS) if full else t("Add a chip or an offer"),
        format_func=lambda text: platform_name(t, _parsed(text, catalogue), catalogue, usual),
    )
    # No popover: at the foot of a laptop's screen it would open in the little room below, and stay cut.
    expander(t("Offers and quotes"), "open_offers", lambda: _editor(view, names))


def _without_price(view: View) -> None:
    """Platforms whose plan has no price, each with the nearest plan that has one."""
    t = view.t
    for index, estimate in enumerate(view.report.platforms):
        if estimate.price_usd_per_chip_hour is not None:
            continue
        chip, plans = estimate.label, plans_of(view.catalogue, estimate.accelerator.id)
        away = next((m for m in estimate.problems if m.code in ELSEWHERE), None)
        said = t("{chip}: no {plan} price on file.", chip=chip, plan=wording.plan_name(estimate.platform.plan, t))
        st.markdown(f":small[:material/info: {escape(t.message(away) if away else said)}]")
        if away is not None:
            st.button(
                t("Use the default offer of {chip}", chip=chip),
                key=f"use_default_{index}",
                type="tertiary",
                on_click=controls.later,
                args=(partial(_use_default, key=estimate.id),),
            )
        elif plans:
            st.button(
                t("Use {plan} for {chip}", plan=wording.plan_name(plans[0], t), chip=chip),
                key=f"use_plan_{index}",
                type="tertiary",
                on_click=controls.later,
                args=(partial(_use_plan, key=estimate.id, plan=plans[0]),),
            )


def _editor(view: View, names: dict[str, str]) -> None:
    t, catalogue, scenario, desk = view.t, view.catalogue, view.scenario, view.desk
    keys = platform_keys(scenario.platforms)
    by_key = dict(zip(keys, scenario.platforms, strict=True))
    st.selectbox(
        t("Platform"),
        keys,
        key=use("w_edit"),
        format_func=lambda key: names.get(format_platform(by_key[key]), key) if key in by_key else key,
    )
    platform = _edited(desk)
    offers = {_offer_code(_platform_of(o)): o for o in reversed(_offers(catalogue, platform.accelerator_id))}
    defaults = [f"{plan}~~" for plan in plans_of(catalogue, platform.accelerator_id)]
    codes = list(dict.fromkeys((*defaults, *reversed(offers), _offer_code(platform))))
    st.selectbox(t("Offer"), codes, key=use("w_edit_offer"), format_func=lambda code: _offer_name(t, code, offers))
    key = keys[scenario.platforms.index(platform)]
    offer_rules.draw_region(view, platform)
    st.text_input(
        t("Your quote, $/chip-hour"),
        key=use(_QUOTE),
        placeholder=t("none"),
        help=t("Replaces the price of the offer. It stays out of the link without company numbers."),
    )
    if _QUOTE in desk.unread:
        st.markdown(
            f":small[:red[{escape(t('This is not a price. Write it like 2.35; the last value still counts.'))}]]"
        )
    offer_rules.draw_quote(view, view.report[key])
    offer_rules.draw(view, view.report[key])
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        if key == scenario.focus:
            st.markdown(f":small[:gray[{escape(t('The sliders move this platform.'))}]]", width="content")
        else:
            st.button(
                t("Move with the sliders"),
                key="make_focus",
                type="tertiary",
                icon=":material/tune:",
                on_click=controls.later,
                args=(partial(_move_with_sliders, chips=view.report[key].size.chips),),
            )
        st.button(
            t("Remove"),
            key="remove_platform",
            type="tertiary",
            icon=":material/close:",
            on_click=controls.later,
            args=(_remove,),
            disabled=len(keys) == 1,
        )
    price_sheet.draw(view)


def _offer_name(t: Translator, code: str, offers: dict[str, Offer]) -> str:
    plan, provider, region = code.split("~", 2)
    if not provider:
        return t("{plan}, default offer", plan=plan_name(t, plan))
    parts = [provider, region, plan_name(t, plan)]
    if code in offers:
        parts.append(rate(offers[code].usd_per_chip_hour))
    return " · ".join(part for part in parts if part)
