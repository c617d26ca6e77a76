"""
Search by Hamming distance
==========================

A hasher turns rows into codes, and ``HammingNeighbors`` finds the nearest codes, exactly. It stands
in a pipeline in front of any estimator that takes ``metric="precomputed"``. Real projections of the
queries rank codes better than Hamming distance does. And within a small radius, tables of
substrings need not look at most of the database.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from sklearn_hashrank import HammingNeighbors, ITQHasher

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=500, random_state=0)

# %%
# From pixels to classes: the hasher, the neighbors as a sparse graph, the vote among them.
print("bits  accuracy of 5 nearest codes")
for n_bits in (8, 16, 32, 64):
    classifier = make_pipeline(
        ITQHasher(n_bits, output="packed", random_state=0),
        HammingNeighbors(5, n_bits=n_bits),
        KNeighborsClassifier(5, metric="precomputed"),
    )
    print(f"{n_bits:4d}  {classifier.fit(X_train, y_train).score(X_test, y_test):.3f}")

# %%
# Short codes leave many ties. The query itself need not be a code: its projections say which bits
# it hardly decides, and the asymmetric distance uses them.
lengths = [8, 12, 16, 24, 32, 64]
precisions = {"hamming": [], "asymmetric": []}
for n_bits in lengths:
    hasher = ITQHasher(n_bits, random_state=0).fit(X_train)
    queries = {
        "hamming": hasher.predict(X_test),
        "asymmetric": hasher.decision_function(X_test),
    }
    for distance, of_length in precisions.items():
        index = HammingNeighbors(10, distance=distance).fit(hasher.predict(X_train))
        found = index.kneighbors(queries[distance], return_distance=False)
        of_length.append(np.mean(y_train[found] == y_test[:, None]))

# %%
# Random codes of 64 bits, all within radius 2. Scanning costs more for each code added; tables look
# at a few lists, however long the database is.
rng = np.random.default_rng(0)
queries = rng.integers(0, 256, (200, 8), dtype=np.uint8)
sizes = [10_000, 30_000, 100_000, 300_000, 1_000_000]
costs = {"brute": [], "multi_index": []}
for n in sizes:
    database = rng.integers(0, 256, (n, 8), dtype=np.uint8)
    for algorithm, column in costs.items():
        search = HammingNeighbors(n_bits=64, algorithm=algorithm).fit(database)
        search.radius_neighbors(queries, 2)  # builds the tables
        times = []
        for _ in range(3):
            start = time.perf_counter()
            search.radius_neighbors(queries, 2)
            times.append(time.perf_counter() - start)
        column.append(min(times) / len(queries) * 1e6)

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for distance, of_length in precisions.items():
    left.plot(lengths, of_length, marker=".", label=distance)
left.set(xlabel="bits", ylabel="precision of the 10 nearest")
left.legend(loc="lower right")
for algorithm, column in costs.items():
    right.loglog(sizes, column, marker=".", label=algorithm)
right.set(xlabel="codes in the database", ylabel="microseconds per query, radius 2")
right.legend()
plt.show()
