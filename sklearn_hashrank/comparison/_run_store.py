"""Keep the results of finished runs on disk, so that an interrupted comparison resumes."""

import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from .._files.atomic import write_file
from ..metrics._configured import ConfiguredMeasure
from ._columns import Column, are_curves, are_scores
from ._runner import Run, RunResult

_MOST_BITS = 1 << 20
_RECORDED = ("scores", "curves", "notes", "measured_on")


class RunStore:
    """One JSON file with a digest for each finished run; without a folder nothing is kept.

    A digest shows that a record was changed. It does not show who wrote the record.
    """

    def __init__(self, folder: Path | None):
        self._folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def load(self, key: str, is_whole: Callable[[dict], bool] = bool) -> dict | None:
        """Return the record of `key`, or None where there is none.

        A record that was changed, or that `is_whole` refuses, gives None with a warning, so that
        the run is done again.
        """
        if self._folder is None:
            return None
        try:
            record = json.loads(self._path(key).read_text(encoding="utf-8"))
            digest = record.pop("digest", None)
            if digest == _digest(record) and record.get("key") == key and is_whole(record):
                return record
        except FileNotFoundError:
            return None
        except (OSError, ValueError, AttributeError, TypeError, RecursionError):
            pass  # such as JSON that is no dict
        warnings.warn(
            f"{self._path(key)} is not as it was written; its run is done again.", stacklevel=2
        )
        return None

    def save(self, key: str, record: dict) -> None:
        """Keep a record under `key`."""
        if self._folder is not None:
            record = {"key": key, **record}
            record["digest"] = _digest(record)
            with write_file(self._path(key), "w", encoding="utf-8") as file:
                file.write(json.dumps(record, indent=1))

    def _path(self, key: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{key}.json"


def _digest(record: dict) -> str:
    """Digest of what a record says, whatever the order and the spaces of its JSON."""
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def load_result(
    run: Run,
    store: RunStore,
    measures: Mapping[str, ConfiguredMeasure],
    further: Iterable[Column] = (),
) -> RunResult | None:
    """Result of an earlier run of the very same settings, if there is one."""
    is_whole = partial(_is_whole, measures=measures, further=tuple(further))
    record = None if run.key is None else store.load(run.key, is_whole)
    if record is None:
        return None
    found = {name: record[name] for name in _RECORDED}
    return RunResult(run.method, record["n_bits"], run.seed, **found, kept=True)


def _is_whole(
    record: dict, measures: Mapping[str, ConfiguredMeasure], further: Iterable[Column]
) -> bool:
    """Whether a record has every part of a result, each of the right form."""
    scores, curves, notes, measured_on = (record.get(name) for name in _RECORDED)
    return (
        type(record.get("n_bits")) is int
        and 0 < record["n_bits"] <= _MOST_BITS
        and are_scores(scores, measures, further)
        and are_curves(curves)
        and isinstance(notes, list)
        and isinstance(measured_on, str)
        and all(isinstance(note, str) for note in notes)
    )


def save_result(run: Run, result: RunResult, store: RunStore) -> None:
    """Keep what a finished run found. Failures are not kept, so that they are tried again."""
    if run.key is not None and not result.error:
        about = {"method": run.method, "hasher": repr(run.hasher), "n_bits": result.n_bits}
        record = {name: getattr(result, name) for name in _RECORDED}
        store.save(run.key, {**about, "seed": run.seed, **record})
