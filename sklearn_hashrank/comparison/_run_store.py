"""Keep the results of finished runs on disk, so that an interrupted comparison resumes."""

import functools
import hashlib
import json
import pickle
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import joblib

from .._files.atomic import write_file
from ._provenance import versions
from ._runner import Evaluation, Run, RunResult


class RunStore:
    """One JSON file with a digest for each finished run; without a folder nothing is kept.

    A digest shows that a record was changed. It does not show who wrote the record.
    """

    def __init__(self, folder: Path | None):
        self._folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def load(self, key: str | None) -> RunResult | None:
        """Return what is kept under a key; None with a warning if the record was changed."""
        if self._folder is None or key is None:
            return None
        path = self._folder / f"{key}.json"
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            if record["digest"] == _digest(record["result"]) and record["key"] == key:
                return replace(RunResult(**record["result"]), from_store=True)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            pass  # such as JSON that is no dict
        warnings.warn(f"{path} is not as it was written; its run is done again.", stacklevel=2)
        return None

    def save(self, key: str | None, result: RunResult) -> None:
        """Keep what a finished run found. Failures are not kept, so they are tried again."""
        if self._folder is None or key is None or result.error:
            return
        kept = asdict(result)
        record = {"key": key, "digest": _digest(kept), "result": kept}
        with write_file(self._folder / f"{key}.json", "w", encoding="utf-8") as file:
            file.write(json.dumps(record, indent=1))


def run_key(data: str, run: Run, affinity: Any, evaluation: Evaluation) -> str | None:
    """Digest of all that the numbers of a run depend on; None if a part cannot be pickled."""
    measures = {n: (each.measure, dict(each.given)) for n, each in evaluation.measures.items()}
    parts = {
        "data": data,
        "split": tuple(run.split),
        "hasher": run.hasher,
        "affinity": affinity,
        "measures": measures,
        "rescoring": evaluation.rescoring,
        "with_search": evaluation.with_search,
        "versions": versions(),
        "source": _source_digest(),
    }
    try:
        return joblib.hash(parts)
    except (pickle.PicklingError, TypeError, AttributeError):  # as of a lambda in a pipeline
        return None


def _digest(record: dict) -> str:
    """Digest of what a record says, whatever the order and the spaces of its JSON."""
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


@functools.cache
def _source_digest() -> str:
    """Digest of the package's own modules, so that edited methods are run again."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] != "cli":
            digest.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
