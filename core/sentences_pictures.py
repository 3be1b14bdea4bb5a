"""What is said when a picture or a page to print cannot be made."""

from __future__ import annotations

from core.sentences import N_

PICTURE_SENTENCES: dict[str, str] = {
    "pictures_no_browser": N_(
        "Pictures and PDF need Chromium or Chrome on the server, and none was found; save the HTML, the workbook or the"
        " CSV instead, or set BROWSER_PATH."
    ),
    "pictures_busy": N_("Too many pictures are being drawn now; try again in a minute."),
    "pictures_failed": N_(
        "The browser that draws pictures failed twice ({why}); try again in a minute, or save the HTML, the workbook or"
        " the CSV instead."
    ),
    "memo_not_set": N_("The memo could not be set on one page ({why}); save the HTML or the workbook instead."),
}
