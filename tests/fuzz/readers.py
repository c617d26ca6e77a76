"""Every reader of files that a user can name: a whole file, how it is read, what may come of it."""

import csv
import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse
from scipy.io import savemat

from sklearn_hashrank import HammingNeighbors, LSHHasher, TALRLinear, load_hasher, save_hasher
from sklearn_hashrank._files.matlab import read_matrices
from sklearn_hashrank._files.tensors import read_tensors
from sklearn_hashrank.cli._rows import read_labels, read_rows
from sklearn_hashrank.codes import load_codes
from sklearn_hashrank.comparison._run_store import RunStore
from sklearn_hashrank.comparison._runner import RunResult
from sklearn_hashrank.datasets._loaders import read_cifar, read_idx
from sklearn_hashrank.metrics import read_qrels, read_run

try:
    import torch
except ImportError:
    torch = None

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 5))
Y = np.array(["01", "1", "b"])[np.arange(24) % 3]
PLANES = RNG.integers(0, 256, (3, 3072), dtype=np.uint8)


class Reader(NamedTuple):
    """How a format is written and read.

    `has_checksum`: what is read at all is what was written. Otherwise `agrees` says whether what
    was read is what the changed file now says. `command` reads the same file by ``hashrank``.
    """

    name: str
    file: str
    write: Callable[[Path], None]
    read: Callable[[Path], Any]
    has_checksum: bool
    agrees: Callable[[Path, Any], bool] = lambda path, found: False
    command: Callable[[Path], list[str]] | None = None


def _fit(path, *options):
    output = str(path.with_name("m.npz"))
    return ["fit", "--method", "lsh", "--bits", "2", "--output", output, "--data", path, *options]


def _write_parquet(path):
    table = pa.table({"a": X[:, 0], "b": np.arange(24), "c": pa.array(Y).dictionary_encode()})
    pq.write_table(table, path)


def _write_csv(path):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "c", "d"])
        writer.writerows(zip(X[:, 0], X[:, 1], Y, np.arange(24) - 12))


def _read_csv(path):
    rows = read_rows(str(path), ["c", "d"])
    return rows.X, [column.tolist() for column in rows.y.T], rows.names


def _csv_agrees(path, found):
    """Every label is the text between its commas, every feature the number."""
    X, labels, names = found
    with open(path, encoding="utf-8-sig", newline="") as file:
        header, *rows = [row for row in csv.reader(file) if row]
    cells = dict(zip(header, zip(*rows)))
    return (
        sorted([*names, "c", "d"]) == sorted(header)
        and all([str(v) for v in column] == list(cells[n]) for n, column in zip("cd", labels))
        and np.array_equal(X, np.array([cells[name] for name in names], float).T.reshape(X.shape))
    )


def _table_agrees(path, found):
    X, y, names = found
    return X.ndim == 2 and X.shape == (len(y), len(names)) and X.dtype.kind in "fiub"


def _npy_agrees(path, found):
    expected = np.load(path)
    same_type = found.dtype == expected.dtype.newbyteorder("=")
    return same_type and np.asarray(found).tobytes() == expected.astype(found.dtype).tobytes()


def _to_idx(array):
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes([0, 0, 8, array.ndim]) + sizes + array.tobytes()


IMAGES = _to_idx(PLANES[:, :784].reshape(3, 28, 28))


def _to_tar(path):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as file:
        for name in ("data_batch_1.bin", "test_batch.bin"):
            content = np.column_stack([[0, 1, 2], PLANES]).astype(np.uint8).tobytes()
            about = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            about.size = len(content)
            file.addfile(about, io.BytesIO(content))
    path.write_bytes(gzip.compress(archive.getvalue(), mtime=0))


def _write_batch(path):
    path.write_bytes(np.column_stack([[0, 1, 2], PLANES]).astype(np.uint8).tobytes())


def _read_batch(path):
    return read_cifar(path.parent, ["test_batch.bin"])


def _batch_agrees(path, found):
    images, labels = found
    return images.shape == (len(labels), 32, 32, 3) and images.dtype == labels.dtype == np.uint8


def _write_run(path):
    lines = (f"q{q} Q0 doc{d} {d} {float(X[d, q])!r} us" for q in range(5) for d in range(24))
    path.write_text("\n".join(lines))


def _write_qrels(path):
    lines = (f"q{q}\t0\tdoc{d}\t{(d + q) % 3}" for q in range(5) for d in range(24))
    path.write_text("\n".join(lines))


def _trec_agrees(path, found):
    """Every line is an item of its query, with the number that stands there."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip()]
    numbers = {(line[0], line[2]): float(line[4 if len(line) == 6 else 3]) for line in lines}
    read = {(query, doc): float(n) for query, docs in found.items() for doc, n in docs.items()}
    return len(numbers) == len(lines) and repr(sorted(numbers.items())) == repr(
        sorted(read.items())
    )


def _evaluate_run(path):
    qrels = path.with_name("qrels.txt")
    _write_qrels(qrels)
    return ["evaluate", "--run", path, "--qrels", qrels]


def _write_mat(path):
    savemat(path, {"gist": X, "ndxtrain": np.arange(24)})


def _write_tensors(path):
    torch.save({"X": torch.from_numpy(X)}, path)


def _matrices_agree(path, found):
    kinds = {array.dtype.kind for array in found.values()}
    return isinstance(found, dict) and kinds <= set("biuf")


def _write_record(path):
    scores = {"ap": 0.1 + 0.2, "ap_pessimistic": float("nan"), "ap_optimistic": 1 / 3}
    scores |= {"fit_seconds": 1e-9, "encode_microseconds": 2.0, "n_train": 3, "n_queries": 4}
    scores |= {"n_database": 5, "distinct_codes": 2, "code_entropy": 0.1}
    curves = {"k": [1, 2, 3], "precision": [0.5, 1 / 3, 0.25], "recall": [0.1, 0.2, 0.3]}
    curves |= {"items_per_code": [2, 3], "codes_with_so_many_items": [1, 1]}
    curves |= {"of_queries": {"ap": [0.25, float("nan"), 1 / 3]}}
    result = RunResult("lsh", 8, 0, scores, curves, ["a note"], "here")
    RunStore(path.parent).save("key", result)


def _read_record(path):
    result = RunStore(path.parent).load("key")
    if result is None:
        raise ValueError("the run is done again")
    return repr(result)


def _write_codes(path):
    LSHHasher(12, random_state=0).fit(X).encode_blocks(X, out=path)


def _write_hasher(path):
    hasher = TALRLinear(3, max_iter=1, batch_size=8, random_state=0).fit(X, Y)
    save_hasher(path, hasher)


def _read_hasher(path):
    hasher = load_hasher(path)
    return [repr(hasher), *(part for item in sorted(vars(hasher).items()) for part in item)]


def _evaluate(path):
    np.save(path.with_name("labels.npy"), Y)
    return ["evaluate", "--database", path, "--database-labels", path.with_name("labels.npy")]


def _write_index(path):
    codes = np.random.default_rng(0).integers(0, 2, (24, 12))
    HammingNeighbors(3).fit(codes).save(path)


def _read_index(path):
    index = HammingNeighbors.load(path)
    return [repr(index), *index.kneighbors(np.zeros((1, 12), dtype=int))]


def _encode(path):
    np.save(path.with_name("X.npy"), X)
    output = path.with_name("codes.npy")
    return ["encode", "--model", path, "--data", path.with_name("X.npy"), "--output", output]


def _read_npz(path):
    rows = read_rows(str(path))
    return rows.X, rows.y


def _read_parquet(path):
    rows = read_rows(str(path), ["c"])
    return rows.X, rows.y, rows.names


READERS = [
    Reader(
        "npz",
        "f.npz",
        lambda path: np.savez(path, X=X, y=Y),
        _read_npz,
        True,
        command=_fit,
    ),
    Reader(
        "npz, compressed",
        "f.npz",
        lambda path: np.savez_compressed(path, X=X, y=Y),
        _read_npz,
        True,
        command=_fit,
    ),
    Reader(
        "npz, sparse",
        "f.npz",
        lambda path: sparse.save_npz(path, sparse.csr_matrix(X * (X > 0))),
        lambda path: read_rows(str(path)).X.toarray(),
        True,
        command=_fit,
    ),
    Reader(
        "npy of features",
        "f.npy",
        lambda path: np.save(path, X),
        lambda path: read_rows(str(path)).X,
        False,
        _npy_agrees,
        _fit,
    ),
    Reader(
        "npy of labels",
        "f.npy",
        lambda path: np.save(path, Y),
        lambda path: read_labels(str(path)).y,
        False,
        _npy_agrees,
    ),
    Reader(
        "csv",
        "f.csv",
        _write_csv,
        _read_csv,
        False,
        _csv_agrees,
        lambda path: _fit(path, "--label-column", "c", "--label-column", "d"),
    ),
    Reader(
        "parquet",
        "f.parquet",
        _write_parquet,
        _read_parquet,
        False,
        _table_agrees,
        lambda path: _fit(path, "--label-column", "c"),
    ),
    Reader("codes", "f.npy", _write_codes, load_codes, True, command=_evaluate),
    Reader("codes as features", "f.npy", _write_codes, lambda path: read_rows(str(path)).X, True),
    Reader("hasher files", "f.npz", _write_hasher, _read_hasher, True, command=_encode),
    Reader("indexes", "index", _write_index, _read_index, True),
    Reader("run records", "key.json", _write_record, _read_record, True),
    Reader("TREC runs", "run.txt", _write_run, read_run, False, _trec_agrees, _evaluate_run),
    Reader("TREC qrels", "qrels.txt", _write_qrels, read_qrels, False, _trec_agrees),
    Reader("CIFAR-10", "test_batch.bin", _write_batch, _read_batch, False, _batch_agrees),
    Reader(
        "CIFAR-10, tar.gz",
        "cifar-10-binary.tar.gz",
        _to_tar,
        lambda path: read_cifar(path, ["data_batch_1.bin", "test_batch.bin"]),
        True,
    ),
    Reader("matrices", "f.mat", _write_mat, read_matrices, False, _matrices_agree, _fit),
    Reader(
        "idx",
        "images",
        lambda path: path.write_bytes(IMAGES),
        lambda path: read_idx(path, 3),
        False,
        lambda path, found: 16 + found.size == path.stat().st_size and found.dtype == np.uint8,
    ),
    Reader(
        "gz",
        "images.gz",
        lambda path: path.write_bytes(gzip.compress(IMAGES, mtime=0)),
        lambda path: read_idx(path, 3),
        True,
    ),
]

if torch is not None:
    READERS.append(
        Reader("tensors", "f.pt", _write_tensors, read_tensors, False, _matrices_agree, _fit)
    )


def canonical(found: Any) -> Any:
    """What was read as something that can be compared, every bit of it."""
    if isinstance(found, np.ndarray):
        return found.dtype.str, found.shape, found.tobytes()
    if isinstance(found, (tuple, list)):
        return [canonical(part) for part in found]
    return repr(found)
