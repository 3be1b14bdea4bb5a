"""The files of a memo, by format: what the Memo page saves and ``python -m core memo`` writes. Made when asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from core.memo_json import memo_json
from ui.charts.memo_cost import memo_charts
from ui.pictures import foot_of, picture

if TYPE_CHECKING:
    from core.catalogue import Catalogue
    from core.memo import Memo, Paper
    from core.report import Report
    from ui.i18n import Translator

Format = Literal["pdf", "html", "xlsx", "png", "svg", "json"]


@dataclass(frozen=True, slots=True)
class Edition:
    """A memo with all that its files are made from."""

    memo: Memo
    report: Report
    catalogue: Catalogue
    paper: Paper
    t: Translator

    def files(self, form: Format) -> Iterator[tuple[str, bytes]]:
        """Name and content of each file of a format; InputError with one sentence where it cannot be made here."""
        match form:
            case "pdf":
                from ui.memo_pdf import pdf

                yield "memo.pdf", pdf(self.memo, self.report, self.paper, self.t)
            case "html":
                from ui.memo_document import document

                yield "memo.html", document(self.memo, self.report, self.t, self.paper).encode()
            case "xlsx":
                from core.export.workbook import workbook

                book = workbook(self.report, self.catalogue, self.memo.texts, link=self.memo.link, say=self.t.message)
                yield "memo.xlsx", book
            case "json":
                found = memo_json(self.memo, self.report, self.catalogue)
                yield "memo.json", (json.dumps(found, allow_nan=False, ensure_ascii=False, indent=1) + "\n").encode()
            case "png" | "svg":
                charts = (chart for chart in memo_charts(self.report, "print", self.t) if chart.figure is not None)
                for i, chart in enumerate(charts, start=1):
                    foot = foot_of(self.report, self.catalogue, self.memo.link, self.t)
                    yield f"figure-{i}.{form}", picture(chart, foot, form, t=self.t)
