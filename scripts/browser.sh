#!/bin/sh
# Find Chromium for the browser tests, or install it with apt where that needs no password. Never fails:
# without a browser those tests are skipped, and say so.
found() {
    # Playwright's driver needs a library (libatomic) that small systems lack.
    .venv/bin/python -m playwright --version >/dev/null 2>&1 || return 1
    [ -z "$BROWSER_PATH" ] || return 0
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v $name >/dev/null 2>&1 && return 0
    done
    [ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ]
}

found && exit 0
as_root=
[ "$(id -u)" = 0 ] || as_root="sudo -n"
if command -v apt-get >/dev/null 2>&1 && $as_root true 2>/dev/null; then
    echo "Installing Chromium for the browser tests…"
    wait="-o DPkg::Lock::Timeout=120"
    {
        $as_root apt-get $wait update -qq
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get $wait install -y -qq --no-install-recommends chromium libatomic1
    } </dev/null >/dev/null 2>&1
fi
found || echo "No Chromium here, so the browser tests will be skipped. Install Chromium or Chrome, or set BROWSER_PATH, to run them." >&2
exit 0
