"""``hashrank methods``: list the names of methods."""

from argparse import Namespace
from typing import Any

from ..comparison import GROUPS, METHODS


def add_command(commands: Any) -> None:
    """Add ``methods`` to the commands."""
    parser = commands.add_parser(
        "methods",
        help="list the methods, with a line about each",
        description="List the names that --methods and --method take, in groups. A star marks "
        "those that refuse rows without labels.",
    )
    parser.set_defaults(run=_run)


def _run(options: Namespace, arguments: list[str]) -> None:
    width = max(map(len, METHODS))
    for group, text in GROUPS.items():
        print(f"{group}: {text}")
        for name, method in METHODS.items():
            if method.group == group:
                print(f"  {name:{width}} {'*' if method.needs_y else ' '} {method.line}")
    print("* refuses rows without labels")
