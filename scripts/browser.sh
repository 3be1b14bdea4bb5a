#!/bin/sh
# Find what the tests drive besides Python: Chromium, LibreOffice's Calc, and the fonts of the memo; or install with apt
# what is lacking, where that needs no password. Never fails: without one of them its tests are skipped, and say so.
browser() {
    # Playwright's driver needs a library (libatomic) that small systems lack.
    .venv/bin/python -m playwright --version >/dev/null 2>&1 || return 1
    [ -z "$BROWSER_PATH" ] || return 0
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v $name >/dev/null 2>&1 && return 0
    done
    [ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ]
}

calc() {
    command -v soffice >/dev/null 2>&1 || command -v libreoffice >/dev/null 2>&1 \
        || [ -x "/Applications/LibreOffice.app/Contents/MacOS/soffice" ]
}

font() {
    [ -n "$(find /usr/share/fonts /usr/local/share/fonts "$HOME/.fonts" /Library/Fonts -name "$1*" -print -quit 2>/dev/null)" ]
}

lacking=
browser || lacking="chromium libatomic1"
calc || lacking="$lacking libreoffice-calc-nogui"
font Inter || lacking="$lacking fonts-inter"
font NotoSansCJK || lacking="$lacking fonts-noto-cjk"
font DejaVuSans || lacking="$lacking fonts-dejavu-core"
[ -n "$lacking" ] || exit 0

as_root=
[ "$(id -u)" = 0 ] || as_root="sudo -n"
if command -v apt-get >/dev/null 2>&1 && $as_root true 2>/dev/null; then
    echo "Installing for the tests: $lacking…"
    wait="-o DPkg::Lock::Timeout=120"
    {
        $as_root apt-get $wait update -qq
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get $wait install -y -qq --no-install-recommends $lacking
    } </dev/null >/dev/null 2>&1
fi
browser || echo "No Chromium here, so the browser tests will be skipped. Install Chromium or Chrome, or set BROWSER_PATH, to run them." >&2
calc || echo "No LibreOffice here, so workbooks will not be recalculated. Install LibreOffice Calc to run those tests." >&2
exit 0
