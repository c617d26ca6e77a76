"""How relevant a database item is to a query: a few levels, computed from `y` alone.

Every affinity validates rows of `y` once and then gives level indices of blocks of
(queries x database). Two optional methods make counting fast: ``group`` puts rows of equal `y`
together, ``runs`` says where the level changes along the groups.
"""

from ._protocol import BaseAffinity

__all__ = ["BaseAffinity"]
