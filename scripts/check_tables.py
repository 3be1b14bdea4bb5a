"""Read what is in data/ and check it: exit code 2 and one line, with row and column of a table, when it is wrong."""

from __future__ import annotations

import sys

from core.catalogue import load_catalogue
from core.messages import InputError
from core.training.constants import constants


def main() -> int:
    try:
        load_catalogue()
        constants()
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
