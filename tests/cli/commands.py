"""Run the command inside the process of the tests."""

from sklearn_hashrank.cli import main


def run(*arguments):
    """Run a command that succeeds."""
    assert main([str(argument) for argument in arguments]) == 0


def refusal(capsys, *arguments):
    """Run a command that refuses its input, and return what it says."""
    assert main([str(argument) for argument in arguments]) == 2
    return capsys.readouterr().err
