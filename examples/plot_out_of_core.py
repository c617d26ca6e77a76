"""
Learning, encoding and evaluating without loading the data
==========================================================

Features may be larger than memory: here they lie in a file that is only ever read block by block.
``RSHHasher.partial_fit`` learns from the blocks what ``fit`` would learn from all rows,
``encode_blocks`` writes packed codes to a file, and the retrieval histogram counts them as they
stream by. The file of this example is small, so that it runs in seconds; nothing else would change
with one of a terabyte.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from sklearn_hashrank import LSHHasher, RSHHasher, retrieval_histogram

N_CLASSES, N_FEATURES, N_BITS = 30, 96, 32
N_DATABASE, N_QUERIES, BLOCK_ROWS = 20_000, 500, 2000

rng = np.random.default_rng(0)
centers = rng.normal(size=(N_CLASSES, N_FEATURES))
mixing = rng.normal(size=(N_FEATURES, N_FEATURES))


def draw_rows(n):
    """Noisy rows of several classes, with correlated features."""
    y = rng.integers(0, N_CLASSES, n)
    noise = rng.normal(size=(n, N_FEATURES)) @ mixing / 10
    return (centers[y] + 2.5 * noise).astype(np.float32), y


# %%
# The features go to a file, as another program would have left them there.
folder = tempfile.TemporaryDirectory()
path = Path(folder.name)
X = np.lib.format.open_memmap(
    path / "features.npy", "w+", dtype=np.float32, shape=(N_DATABASE, N_FEATURES)
)
y = np.empty(N_DATABASE, dtype=np.int64)
parts = [slice(i, i + BLOCK_ROWS) for i in range(0, N_DATABASE, BLOCK_ROWS)]
for part in parts:
    X[part], y[part] = draw_rows(BLOCK_ROWS)
X_query, y_query = draw_rows(N_QUERIES)

X = np.load(path / "features.npy", mmap_mode="r")
print(f"features: {X.nbytes / 1e6:.0f} MB in a file")


# %%
# After every block: encode the whole file, and let the queries retrieve from the codes. A file of
# codes has its name only once it is complete, so that a run that is interrupted leaves no half of
# a file to be taken for a whole one.
def evaluate(hasher, name):
    """Mean tie-aware AP of the queries, of codes in a file."""
    codes = hasher.encode_blocks(X, out=path / name)
    queries = hasher.encode_blocks(X_query)
    histogram = retrieval_histogram(queries, codes, y_query, y, n_bits=N_BITS)
    return histogram.average_precision().mean()


hasher = RSHHasher(N_BITS, random_state=0)
sizes, scores = [], []
for part in parts:
    hasher.partial_fit(X[part], y[part])
    sizes.append(part.stop)
    scores.append(evaluate(hasher, "rsh.npy"))
    print(f"{part.stop:7,d} rows: tie-aware AP {scores[-1]:.4f}")

# %%
# What came of the blocks is what comes of all rows at once, but for rounding. (The rotation of the
# solution alternates with signs, which can turn a last digit into a bit here and there.)
at_once = RSHHasher(N_BITS, random_state=0).fit(np.array(X), y)
difference = abs(at_once.objective_ / hasher.objective_ - 1)
equal = (at_once.predict(X_query) == hasher.predict(X_query)).mean()
print(f"objective of fit: a relative difference of {difference:.0e}; {equal:.2%} of all bits equal")

# %%
# Codes need not be stored at all. Of pairs ``(rows, y)``, ``encode_blocks`` makes pairs
# ``(codes, y)``, and these are a database.
blocks = ((X[part], y[part]) for part in parts)
histogram = retrieval_histogram(
    hasher.encode_blocks(X_query), hasher.encode_blocks(blocks), y_query, n_bits=N_BITS
)
assert histogram.average_precision().mean() == scores[-1]

random = evaluate(LSHHasher(N_BITS, random_state=0).fit(X[parts[0]]), "lsh.npy")
codes = np.load(path / "rsh.npy", mmap_mode="r")
print(f"codes: {codes.nbytes / 1e6:.1f} MB, AP {scores[-1]:.3f}; random hyperplanes {random:.3f}")

figure, axes = plt.subplots(figsize=(6, 3.8), layout="constrained")
axes.plot(sizes, scores, "o-", label="RSHHasher.partial_fit")
axes.axhline(random, color="gray", linewidth=1, label="random hyperplanes")
axes.set(xlabel="rows learned from", ylabel="tie-aware AP of the queries", xlim=(0, None))
axes.legend()
plt.show()

folder.cleanup()
