"""``hashrank fit``, ``encode``, ``evaluate`` and ``search``."""


def add_commands(commands):
    pass
