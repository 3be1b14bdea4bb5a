"""The move on a calendar: trial, port, parity, tuning, dual running, and the day to stop if it is not done."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pandas as pd

from core.numbers import fill, percent
from ui.charts.base import PHONE_WIDTH, REFERENCE_WIDTH, Chart, line, make_figure, note, x_axis, y_axis
from ui.charts.labels import Props, label_margin, plain, text_width
from ui.charts.migration_base import BOTTOM, HEIGHT
from ui.charts.ticks import Tick, nice_step
from ui.theme import FONT_SIZE_SMALL, PALETTES, TINTS, Scheme, Style
from ui.wording import Translate, day, identity

if TYPE_CHECKING:
    from core.migration.outcome import Step

_TOP, _RIGHT = 22.0, 18.0
_THICK = 0.62  # of a row


def first_monday(after: date) -> date:
    """The Monday after a day: work begins with a week.

    >>> first_monday(date(2026, 11, 30)).isoformat()
    '2026-12-07'
    """
    return after + timedelta(days=7 - after.weekday())


def step_names(t: Translate = identity) -> dict[str, str]:
    """What the stretches of a move are called."""
    return {
        "trial": t("Trial"),
        "port": t("Port"),
        "parity": t("Parity"),
        "tuning": t("Tuning"),
        "dual_running": t("Dual running"),
    }


def weeks_words(weeks: float) -> str:
    """Weeks of a plan: ``4``, ``2.5``; what is not nothing is not written as 0.

    >>> weeks_words(4.02), weeks_words(2.46), weeks_words(0.4), weeks_words(0.0024), weeks_words(0.0)
    ('4', '2.5', '0.4', '0.002', '0')
    """
    if 0.0 < weeks < 0.05:
        return f"{max(weeks, 1e-4):.1g}"
    return f"{weeks:.1f}".removesuffix(".0") if weeks < 9.95 else f"{weeks:.0f}"


def timeline_title(stop_week: float | None, mfu: float | None, t: Translate = identity) -> str:
    """When to stop, and by what."""
    if stop_week is None:
        return t("No date to begin: the move earns less than it costs")
    words: dict[str, object] = {"weeks": weeks_words(stop_week)}
    if mfu is None:
        return fill(t("Stop at week {weeks} if the port does not run by then"), words)
    words["mfu"] = percent(mfu)
    return fill(t("Stop at week {weeks} if the port is still under {mfu} MFU"), words)


def migration_timeline_chart(
    steps: Sequence[Step],
    stop_week: float | None,
    mfu: float | None,
    begin: date,
    style: Style,
    scheme: Scheme,
    t: Translate = identity,
) -> Chart:
    """The steps as bars over weeks from ``begin``; ``mfu``: under which the port does not save."""
    key, name, title = "migration_timeline", t("timeline of the move"), timeline_title(stop_week, mfu, t)

    def frame() -> pd.DataFrame:
        return pd.DataFrame(
            [
                {
                    "step": s.id,
                    "begin_week": s.begin_week,
                    "end_week": s.end_week,
                    "begin": (begin + timedelta(weeks=s.begin_week)).isoformat(),
                    "end": (begin + timedelta(weeks=s.end_week)).isoformat(),
                }
                for s in steps
            ]
        )

    if not steps:
        return Chart(key, name, title, "", None, t("There are no steps to draw."), frame)
    palette, names = PALETTES[scheme], step_names(t)
    rows = list(range(len(steps)))
    end = max([*(s.end_week for s in steps), stop_week or 0.0]) * 1.04
    left = label_margin([names[s.id] for s in steps]) + 2
    form = t("{step}: week {begin} to {end}<br>{from_day} to {to_day}")
    hover = [
        fill(
            form,
            {
                "step": names[s.id],
                "begin": weeks_words(s.begin_week),
                "end": weeks_words(s.end_week),
                "from_day": day(begin + timedelta(weeks=s.begin_week)),
                "to_day": day(begin + timedelta(weeks=s.end_week)),
            },
        )
        for s in steps
    ]
    tints = {"trial": TINTS[2], "port": TINTS[1], "parity": TINTS[1], "tuning": TINTS[0], "dual_running": TINTS[3]}
    traces: list[Props] = [
        {
            "type": "bar",
            "orientation": "h",
            "y": rows,
            "base": [s.begin_week for s in steps],
            "x": [s.end_week - s.begin_week for s in steps],
            "width": _THICK,
            "marker": {"color": [style.alpha(tints[s.id]) for s in steps],
                       "line": {"width": 1, "color": style.colour}},
            "text": hover,
            "textposition": "none",
            "hovertemplate": "%{text}<extra></extra>",
        }
    ]  # fmt: skip
    shapes, notes = [], []
    if stop_week is not None:
        shapes.append(line(stop_week, 0, stop_week, 1, palette.stop, dash="dash", width=REFERENCE_WIDTH, y_paper=True))
        said = fill(t("stop on {day}"), {"day": day(begin + timedelta(weeks=stop_week))})
        plot = PHONE_WIDTH - left - _RIGHT
        half = text_width(said, FONT_SIZE_SMALL) / 2 / plot * end
        side = "left" if stop_week < half else "right" if stop_week > end - half else "center"
        notes.append(note(plain(said), stop_week, 1, palette.stop, y_paper=True, anchor=side, y_shift=2,
                          size=FONT_SIZE_SMALL))  # fmt: skip
    step = max(1.0, nice_step(end / 5))
    weeks = [i * step for i in range(int(end / step + 1e-9) + 1)]
    ticks = [Tick(w, fill(t("week {n}"), {"n": weeks_words(w)}) if w == weeks[-1] else weeks_words(w)) for w in weeks]
    figure = make_figure(
        traces,
        height=HEIGHT,
        margin=(left, _RIGHT, _TOP, BOTTOM),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x=x_axis(ticks, (0.0, end), palette, log=False),
        y=y_axis([Tick(float(i), names[s.id]) for i, s in enumerate(steps)], (len(steps) - 0.5, -0.5), palette,
                 log=False, grid=False),
    )  # fmt: skip
    return Chart(
        key,
        name,
        title,
        fill(t("Weeks from {day}, at the middle of the effort"), {"day": day(begin)}),
        figure,
        "",
        frame,
        alt=fill(t("Bars of a plan over weeks. {title}."), {"title": title}),
    )
