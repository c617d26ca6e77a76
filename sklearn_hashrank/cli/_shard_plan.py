"""What is in a folder of shards of codes: which files, and what each was made of."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from .._files.atomic import write_file
from .._files.reading import reading
from . import _file_systems
from ._errors import UsageError

_NAME = "_hashrank.json"  # of a name that readers of folders of data pass over


class Shard(NamedTuple):
    """A file of codes, and a digest of the hasher and of the rows that it was made of."""

    path: str
    digest: str


def write_plan(folder: str, names: Sequence[str], digests: Sequence[str]) -> None:
    """Say which files a folder will have when it is complete."""
    plan = {"shards": [{"name": n, "digest": d} for n, d in zip(names, digests, strict=True)]}
    with (
        _file_systems.local_output(_file_systems.join(folder, _NAME)) as path,
        write_file(path, "w", encoding="utf-8") as file,
    ):
        json.dump(plan, file, indent=1)


def read_plan(folder: str) -> list[Shard] | None:
    """Shards of a complete folder, in order; None for a folder that `write_plan` did not see."""
    path = _file_systems.join(folder, _NAME)
    if not _file_systems.is_file(path):
        return None
    with reading(path, " does not say which shards there are ({}).", passing=UsageError):
        with _file_systems.open_to_read(path) as file:
            found = json.load(file)["shards"]
        shards = [
            Shard(_file_systems.join(folder, str(e["name"])), str(e["digest"])) for e in found
        ]
        if not shards:
            raise ValueError("an empty list")
        missing = [shard.path for shard in shards if not _file_systems.is_file(shard.path)]
        if missing:
            raise UsageError(
                f"{folder}: {len(missing)} of {len(shards)} shards are missing, the first is "
                f"{missing[0]}. Run hashrank encode again: it writes those that are missing."
            )
    return shards
