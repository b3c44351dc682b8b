"""`python -m tests.environments [name ...]`: makes those environments, or all the frameworks'.

One that cannot be made says why, and its tests are skipped; the others are made all the same.
"""

from __future__ import annotations

import argparse

from tests.environments import FRAMEWORKS, MINDINSIGHT, ensure


def main() -> None:
    """Makes the environments that the command line names."""
    frameworks = [environment.name for environment in FRAMEWORKS]
    parser = argparse.ArgumentParser(
        prog="python -m tests.environments", description="Makes what tests run beside laptime."
    )
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join([*frameworks, MINDINSIGHT.name]))
    names = parser.parse_args().names
    unknown = set(names) - {*frameworks, MINDINSIGHT.name}
    if unknown:
        parser.error(f"no environment is named {min(unknown)}")
    for name in names or frameworks:
        python = ensure(name)
        if python is not None:
            print(python, flush=True)


if __name__ == "__main__":
    main()
