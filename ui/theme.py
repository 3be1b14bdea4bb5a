"""Colours and type: the palettes of light, dark and print, and the colour of each platform.

One colour per chip, the same on every page and in the memo. TPUs are cold hues, other chips warm,
so that the family can be told before the label is read; two offers of one chip share a hue and
the second is dashed. Colours were chosen to stay apart for colour-blind readers and in greyscale.
Text is never set in a platform colour: some of them are too pale for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from core.report import PlatformEstimate

Scheme = Literal["light", "dark", "print"]

FONT = "Inter, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK SC', sans-serif"
FONT_SIZE = 12  # axis and labels, px
FONT_SIZE_SMALL = 11  # notes inside a chart; nothing is smaller
FOCUS_WIDTH, LINE_WIDTH = 2.6, 1.8
TINTS = (1.0, 0.55, 0.30, 0.16, 0.09)  # parts of one platform's bar, largest meaning first
BAND_OPACITY = 0.15
SHADE_OPACITY = 0.16


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours that are no platform's, as hex."""

    text: str
    muted: str
    page: str
    grid: str
    axis: str
    reference: str  # budget, deadline and quote lines
    primary: str
    stop: str  # limits, "costs more", reasons why not


_LIGHT = Palette(
    text="#18212c",
    muted="#566270",
    page="#ffffff",
    grid="#e8ecf0",
    axis="#c4ccd4",
    reference="#6b7885",
    primary="#2c4a66",
    stop="#b3261e",
)
_DARK = Palette(
    text="#e8edf2",
    muted="#a3b0bd",
    page="#10161d",
    grid="#222c37",
    axis="#3d4a57",
    reference="#93a1ae",
    primary="#9db8d2",
    stop="#ff8a80",
)
PALETTES: dict[Scheme, Palette] = {"light": _LIGHT, "dark": _DARK, "print": _LIGHT}

# (first offer, further offers) of one chip.
_SLOTS_LIGHT = {
    "v5p": ("#05386c", "#4271aa"),
    "trillium": ("#0e8b98", "#045c65"),
    "violet": ("#644ca0", "#9e88e2"),
    "h100": ("#ab520f", "#812c02"),
    "h200": ("#858338", "#5c5a14"),
    "b200": ("#4f0920", "#8d4454"),
    "grey": ("#8a96a3", "#5e6a76"),
}
_SLOTS_DARK = {
    "v5p": ("#80aeeb", "#c6defd"),
    "trillium": ("#45e0f2", "#18a3b1"),
    "violet": ("#847ad9", "#b2adfc"),
    "h100": ("#de8233", "#feb192"),
    "h200": ("#d9ef70", "#a0b42d"),
    "b200": ("#a66275", "#d78fa2"),
    "grey": ("#8a96a3", "#b8c5d3"),
}
SLOTS: dict[Scheme, dict[str, tuple[str, str]]] = {"light": _SLOTS_LIGHT, "dark": _SLOTS_DARK, "print": _SLOTS_LIGHT}

_OWN_SLOT = {
    "tpu_v5p": "v5p",
    "tpu_v6e": "trillium",
    "tpu_v7": "violet",
    "h100_sxm": "h100",
    "h200_sxm": "h200",
    "b200_sxm": "b200",
}
_COLD, _WARM = ("violet", "grey", "v5p", "trillium"), ("violet", "grey", "h200", "b200", "h100")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "dash")


@dataclass(frozen=True, slots=True)
class Style:
    """How a platform is drawn. ``colour`` is hex, ``dash`` a Plotly dash name."""

    colour: str
    dash: str
    is_focus: bool

    @property
    def width(self) -> float:
        """Line width in px."""
        return FOCUS_WIDTH if self.is_focus else LINE_WIDTH

    def alpha(self, opacity: float) -> str:
        """The colour as ``rgba()`` with ``opacity``."""
        return rgba(self.colour, opacity)


def rgba(colour: str, opacity: float) -> str:
    """A hex colour with an opacity.

    >>> rgba("#05386c", 0.15)
    'rgba(5,56,108,0.15)'
    """
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def _slots(chips: Sequence[tuple[str, str]]) -> dict[str, str]:
    """A slot for each (accelerator id, family): its own, else violet, grey, then one left over.

    A chip without a colour of its own must not take one that another platform of the scenario has.
    """
    taken = {chip: _OWN_SLOT[chip] for chip, _ in chips if chip in _OWN_SLOT}
    for chip, family in chips:
        if chip not in taken:
            wishes = (*(_COLD if family == "tpu" else _WARM), *_SLOTS_LIGHT)
            taken[chip] = next((slot for slot in wishes if slot not in taken.values()), "grey")
    return taken


@lru_cache(maxsize=256)
def _styles(chips: tuple[tuple[str, str], ...], focus: int, scheme: Scheme) -> tuple[Style, ...]:
    slots, seen, styles = _slots(chips), dict[str, int](), []
    for i, (chip, _) in enumerate(chips):
        nth = seen.get(chip, 0)
        seen[chip] = nth + 1
        styles.append(Style(SLOTS[scheme][slots[chip]][min(nth, 1)], _DASHES[nth], i == focus))
    return tuple(styles)


def platform_styles(platforms: Sequence[PlatformEstimate], scheme: Scheme) -> dict[str, Style]:
    """Colour and dash of every platform of a scenario, by platform id.

    Depends on the chips and their order alone, so a platform looks the same on every page.
    """
    chips = tuple((p.accelerator.id, p.accelerator.family) for p in platforms)
    focus = next((i for i, p in enumerate(platforms) if p.is_focus), -1)
    return dict(zip((p.id for p in platforms), _styles(chips, focus, scheme), strict=True))


def chip_colours(platforms: Sequence[PlatformEstimate], scheme: Scheme) -> dict[str, str]:
    """Colours of chips by id where runs of all chips are drawn; a chip that is not there is grey.

    The chips of the scenario look as on every page; another keeps its own colour unless one of them has it.
    """
    slots = _slots(tuple((p.accelerator.id, p.accelerator.family) for p in platforms))
    for chip, slot in _OWN_SLOT.items():
        if slot not in slots.values():
            slots.setdefault(chip, slot)
    return {chip: SLOTS[scheme][slot][0] for chip, slot in slots.items() if slot != "grey"}


def grey(scheme: Scheme) -> str:
    """The colour of everything without one of its own."""
    return SLOTS[scheme]["grey"][0]
