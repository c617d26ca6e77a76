"""Run a guide from top to bottom: sessions of Python, and commands with the output they show."""

import io
import re
import shlex
from contextlib import redirect_stderr, redirect_stdout

from sklearn_hashrank._utils.extras import install_command
from sklearn_hashrank.cli import main
from tests.contract.digits import run_page

BLOCK = r"\.\. code-block:: {}\n\n((?: {{3}}.*\n|\n)+)"
COMMANDS = re.compile("^" + BLOCK.format("sh") + f"(?:{BLOCK.format('text')})?", re.M)
OTHER_PROGRAMS = (install_command(), "make ", "git ", "cd ", "python -m ")


def sh(command, shown=False):
    """Run ``hashrank``, and print its output if the guide shows it; others are looked at only."""
    program, *arguments = shlex.split(command)
    if program != "hashrank":
        assert command.startswith(OTHER_PROGRAMS), command
        return
    with redirect_stdout(io.StringIO()) as output, redirect_stderr(io.StringIO()) as errors:
        code = main(arguments)
    assert code == 0, errors.getvalue()
    if shown:
        print(output.getvalue().rstrip())


def as_session(text):
    """Turn commands into examples of a session, and the output they show into what is printed."""

    def convert(block):
        commands, output = (re.sub(r"^ {3}", "", each or "", flags=re.M) for each in block.groups())
        lines = [line for line in commands.replace("\\\n", " ").splitlines() if line.strip()]
        examples = [f">>> sh({line!r})" for line in lines]
        if output:
            examples[-1] = examples[-1].removesuffix(")") + ", shown=True)\n" + output.rstrip()
        return "\n".join(examples) + "\n\n"

    return COMMANDS.sub(convert, text)


def run_guide(path):
    """Run a guide in the working folder, and return how many examples there are and fail."""
    return run_page(path, as_session(path.read_text("utf-8")), {"sh": sh})
