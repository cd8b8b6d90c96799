"""Where the project's own C++ files are, for the scripts of this folder."""

LAYERS = ("base", "kernels", "probe", "runtime", "reports", "cli", "samples", "tests")


def sources(root, kinds=("cpp", "h")):
    """Their paths below `root` (a pathlib.Path), as "base/text.h", in order."""
    return sorted(path.relative_to(root).as_posix() for layer in LAYERS for kind in kinds for path in (root / layer).rglob(f"*.{kind}"))
