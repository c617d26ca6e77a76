"""Codes that clusters make are those of one machine, and the command searches them."""

import os
import shutil
import signal
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sklearn_hashrank import HammingNeighbors, ITQHasher, retrieval_histogram, save_hasher
from sklearn_hashrank.cli import main

ROOT = str(Path(__file__).parents[2])
N, WIDTH, N_BITS = 1000, 32, 16
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 4, N)
X = (RNG.normal(size=(4, WIDTH))[Y] + RNG.normal(size=(N, WIDTH))).astype(np.float32)
CUTS = (0, 400, 800, N)
# Spark, Ray and what they import warn of one another.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def items(tmp_path, monkeypatch):
    """Rows in three files, and a hasher of all of them."""
    monkeypatch.chdir(tmp_path)
    os.mkdir("items")
    for number, (start, stop) in enumerate(pairwise(CUTS)):
        lists = pa.FixedSizeListArray.from_arrays(X[start:stop].ravel(), WIDTH)
        table = pa.table({"id": np.arange(start, stop), "embedding": lists, "y": Y[start:stop]})
        pq.write_table(table, f"items/{number}.parquet")
    hasher = ITQHasher(N_BITS, random_state=0).fit(X)
    save_hasher("model.npz", hasher)
    return str(tmp_path), hasher


def check_codes(folder, hasher):
    """The codes of all ids are those of the hasher, and a search finds what is in the folder."""
    table = pq.read_table(f"{folder}/codes").to_pandas().sort_values("id")
    packed = hasher.packed_codes(X)
    assert table["id"].tolist() == [*range(N)]
    assert table["code"].tolist() == [code.tobytes() for code in packed]
    search = ["search", "--model", "model.npz", "--data", "items/0.parquet", "-k", "5"]
    assert main([*search, "--database", f"{folder}/codes", "--output", "found.npz"]) == 0
    wanted, _ = HammingNeighbors(5, n_bits=N_BITS).fit(packed).kneighbors(packed[: CUTS[1]])
    with np.load("found.npz") as found:
        np.testing.assert_array_equal(found["distances"], wanted)


def test_spark(items, monkeypatch):
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    from tests.clusters.recipes import spark as recipe

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    folder, hasher = items
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    try:
        recipe.encode(session, f"{folder}/model.npz", f"{folder}/items", f"{folder}/codes")
    finally:
        session.stop()
    check_codes(folder, hasher)


def test_ray(items, monkeypatch):
    ray = pytest.importorskip("ray", reason="ray is not installed")
    pytest.importorskip("ray.data")
    from tests.clusters.recipes import ray as recipe

    monkeypatch.setenv("RAY_worker_niceness", "0")  # else they wait for all that runs beside them
    monkeypatch.setenv("PYTHONPATH", ROOT)  # workers import the function of the recipe by its name
    folder, hasher = items
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    try:
        recipe.encode(f"{folder}/model.npz", f"{folder}/items", f"{folder}/codes")
    finally:
        ray.shutdown()
    check_codes(folder, hasher)


def test_dask_with_a_worker_that_is_killed(items, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    from tests.clusters.recipes import dask as recipe

    folder, hasher = items
    files = [f"{folder}/items/{number}.parquet" for number in range(3)]
    marker = f"{folder}/killed"
    read = recipe.read

    def deadly(files, column, width=None):
        rows = read(files, column, width)
        return rows.map_blocks(die_once, marker, dtype=rows.dtype, meta=rows._meta)

    monkeypatch.setattr(recipe, "read", deadly)
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, distributed.Client(cluster):
        learned, nearest, ap = recipe.all_steps(files, WIDTH, X[:50], Y[:50], N_BITS)
    assert os.path.exists(marker)
    np.testing.assert_allclose(learned.components_, hasher.components_, atol=1e-6)
    packed = learned.packed_codes(X)
    wanted = HammingNeighbors(10, n_bits=N_BITS).fit(packed).kneighbors(packed[:50])
    for found, expected in zip(nearest, wanted):
        np.testing.assert_array_equal(found, expected)
    histogram = retrieval_histogram(packed[:50], packed, Y[:50], Y, n_bits=N_BITS)
    assert ap == histogram.average_precision().mean()


def die_once(rows, marker, block_info=None):
    """The rows; but the process that is first to work on the last chunk dies."""
    if block_info[0]["chunk-location"][0] == 2 and not os.path.exists(marker):
        open(marker, "x").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return rows
