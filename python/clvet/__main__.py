"""python -m clvet ...: the clvet program of this package."""

import os
import sys

from ._native import bundled_program


def main() -> None:
    program = bundled_program() or os.environ.get("CLVET_PROGRAM")
    if not program:
        sys.exit("this package has no clvet program: install a wheel that has it, or set CLVET_PROGRAM to the file")
    try:
        os.execv(program, ["clvet", *sys.argv[1:]])
    except OSError as fault:
        sys.exit(f"{program} cannot be started: {fault.strerror}")


if __name__ == "__main__":
    main()
