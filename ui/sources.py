"""What a chart rests on where that is not prices alone, for its foot: published runs, the model, public reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from core import MODEL_VERSION
from core.evidence.runs import publisher_of
from ui.wording import listing, price_source

if TYPE_CHECKING:
    from core.catalogue import Catalogue
    from core.evidence.errors import Drawn
    from core.report import Report, Scaling
    from ui.i18n import Translator

NAMED = 3  # publishers, those of most runs first


def model_source(t: Translator) -> str:
    """Speeds, plans and memory that are worked out."""
    return t("model {version}, fitted to published runs", version=MODEL_VERSION)


def cost_source(report: Report, t: Translator) -> str:
    """Cash over sizes: prices, and the speeds they are multiplied with."""
    return _joined(price_source(report, t), model_source(t))


def beside_runs(scaling: Scaling | None, catalogue: Catalogue, t: Translator) -> str:
    """The model, and the runs that are drawn beside its line."""
    sources = () if scaling is None else scaling.published.source
    said = [publisher_of({"source_title": source, "source_location": ""}, catalogue)[0] for source in sources]
    return _joined(_published(len(sources), said, t), model_source(t))


def drawn_source(drawn: Drawn, t: Translator) -> str:
    """Runs that are held against the model."""
    publishers = (str(name) for name in drawn.runs.publisher[drawn.index])
    return _joined(_published(len(drawn), publishers, t), t("model {version}", version=MODEL_VERSION))


def move_source(t: Translator, reports: int = 0, prices: str = "") -> str:
    """Effort and calendar of a move: our own constants, and the public ``reports`` beside them."""
    said = t.n("{n:int} public report", "{n:int} public reports", reports) if reports else ""
    return _joined(prices, t("assumed constants of a move"), said)


def _published(n: int, publishers: Iterable[str], t: Translator) -> str:
    """``8 published runs by Google``, ``656 published runs by NVIDIA, Google, MLCommons and 21 others``."""
    if not n:
        return ""
    runs = t.n("{n:int} published run", "{n:int} published runs", n)
    most = [name for name, _ in Counter(name for name in publishers if name).most_common()]
    if not most:
        return runs
    others = len(most) - NAMED
    names = [*most[:NAMED], t.n("{n:int} other", "{n:int} others", others)] if others > 0 else most
    return t("{runs} by {names}", runs=runs, names=listing(names, t))


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
