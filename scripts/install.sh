#!/bin/sh
# Install requirements into .venv: with uv, which is three times as fast, or with pip where uv cannot be had.
# Both trust the certificates that the system trusts.
pip=".venv/bin/python -m pip --disable-pip-version-check --quiet"
$pip --version >/dev/null 2>&1 || .venv/bin/python -m ensurepip >/dev/null || exit 1
if [ ! -x .venv/bin/uv ]; then
    $pip install uv==0.13.9 2>/dev/null
fi
UV_SYSTEM_CERTS=1 UV_HTTP_CONNECT_TIMEOUT=5 UV_HTTP_RETRIES=1 VIRTUAL_ENV=.venv \
    .venv/bin/uv pip install --quiet --python .venv/bin/python --compile-bytecode "$@" 2>/dev/null && exit 0
exec $pip install "$@"
