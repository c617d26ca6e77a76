"""
A pipeline that is stored, and searched after loading
=====================================================

A hasher is the last step of a pipeline like any other. What it was trained on it keeps as packed
codes, so that the stored pipeline is also the index: load it, encode a query, compare bits.
"""

import tempfile
from pathlib import Path

import joblib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline

from sklearn_hashrank import RSHHasher
from sklearn_hashrank.codes import hamming_distances
from sklearn_hashrank.metrics import make_retrieval_scorer
from sklearn_hashrank.model_selection import PerClassRetrievalSplit

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32)
train, query, _ = next(PerClassRetrievalSplit(20, None, random_state=0).split(X, y))

pipeline = Pipeline(
    [
        ("pca", PCA(32, random_state=0)),
        ("hasher", RSHHasher(n_bits=16, random_state=0)),
    ]
)
pipeline.fit(X[train], y[train])

# %%
# The scorer finds the hasher in the pipeline, and retrieves from the codes of its training rows.
scorer = make_retrieval_scorer("ap", database="fit")
score = scorer(pipeline, X[query], y[query])
codes = pipeline["hasher"].codes_
print(f"AP of {len(query)} queries, {len(train)} database rows: {score:.3f}")
print(f"pixels {X[train].nbytes / 1024:.0f} KiB, codes {codes.nbytes / 1024:.1f} KiB")

# %%
# joblib stores anything. skops stores only what it knows or is told to trust, which makes files of
# strangers safe to look into; of this package it wants to be told its own types, and nothing else.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "hasher.joblib")
    joblib.dump(pipeline, path, compress=3)
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB")
    loaded = joblib.load(path)
np.testing.assert_array_equal(loaded.predict(X), pipeline.predict(X))

try:
    import skops.io
except ImportError:
    print("skops is not installed")
else:
    stored = skops.io.dumps(pipeline)
    trusted = skops.io.get_untrusted_types(data=stored)
    print("skops wants to be told:", ", ".join(trusted))
    from_skops = skops.io.loads(stored, trusted=trusted)
    np.testing.assert_array_equal(from_skops.predict(X), pipeline.predict(X))

# %%
# Search with what was loaded: packed codes of a query of each digit against those that came with
# the model. Green is the same digit, red another one; rows at equal distance come in the order of
# the database.
shown = np.array([query[y[query] == digit][0] for digit in range(10)])
loaded["hasher"].set_params(output="packed")
distances = hamming_distances(loaded.transform(X[shown]), loaded["hasher"].codes_, n_bits=16)
nearest = np.argsort(distances, axis=1, kind="stable")[:, :12]

figure, axes = plt.subplots(10, 13, figsize=(8.5, 7), layout="constrained")
for i, row in enumerate(axes):
    for j, axis in enumerate(row):
        item = shown[i] if j == 0 else train[nearest[i, j - 1]]
        axis.imshow(X[item].reshape(8, 8), cmap="gray_r")
        axis.set(xticks=[], yticks=[])
        color = "black" if j == 0 else "seagreen" if y[item] == y[shown[i]] else "crimson"
        for side in axis.spines.values():
            side.set(color=color, linewidth=2)
axes[0, 0].set_title("query", fontsize=9)
for j in range(1, 13):
    axes[0, j].set_title(f"{j}", fontsize=9)
plt.show()
