"""Read every table in data/ and check it: exit code 2 and one line with file, row and column when one is wrong."""

from __future__ import annotations

import sys

from core.catalogue import load_catalogue
from core.messages import InputError


def main() -> int:
    try:
        load_catalogue()
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
