#!/bin/sh
# Make .venv with the first Python that is new enough: the one given, else python3, else a versioned one.
no_venv=
for python in "$@" python3 python3.13 python3.12 python3.11 python3.14; do
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
    if "$python" -c 'import ensurepip' 2>/dev/null; then
        exec "$python" -m venv --clear .venv
    fi
    no_venv=$python
done
if [ -n "$no_venv" ]; then
    version=$("$no_venv" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    echo "Python $version has no venv module. On Debian or Ubuntu: apt-get install python$version-venv" >&2
else
    echo "Compute Reckoner needs Python 3.11 or newer, and none was found. Install one, or: make PYTHON=/path/to/python3 …" >&2
fi
exit 1
