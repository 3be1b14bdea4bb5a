#!/bin/sh
# Rewrite constraints.txt: the newest version of everything that the requirements pull in, for Python 3.11 and newer.
# pip comes with Python and is left to it.
set -e
new=$(mktemp) && trap 'rm -f "$new" "$new.in"' EXIT
grep -hv '^-c' requirements.txt requirements-dev.txt >"$new.in"
UV_SYSTEM_CERTS=1 .venv/bin/uv pip compile --quiet --universal --python-version 3.11 --no-header --annotation-style line \
    --no-emit-package pip "$new.in" >"$new"
{
    echo "# Every package the app, its tests and its checks pull in, pinned for Python 3.11 and newer. Written by: make pins"
    grep '==' "$new" | sed "s| *# via .*||"
} >constraints.txt
