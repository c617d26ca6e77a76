"""
Compress embeddings
===================

A database of text embeddings takes a kilobyte or more for each text. Codes take 8 to 32 bytes, and
a search by Hamming distance finds many of the nearest embeddings by cosine. Here the texts are
paragraphs of the documentation of numpy, scipy and scikit-learn, which you have on your machine. An
embedding is 256 numbers from TF-IDF and a singular value decomposition. Labels, here the modules
that paragraphs come from, are used at the end only.
"""

import importlib
import inspect

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from sklearn_hashrank import (
    HammingNeighbors,
    ITQHasher,
    NeighborAffinity,
    SignHasher,
    TALRLinear,
    retrieval_histogram,
)
from sklearn_hashrank.neighbors import rescore

MODULES = (
    "numpy.linalg numpy.random scipy.linalg scipy.ndimage scipy.optimize sklearn.cluster "
    "sklearn.linear_model sklearn.metrics sklearn.preprocessing"
)


def paragraphs(module):
    """Paragraphs of at least twelve words that document the functions and classes of a module."""
    module = importlib.import_module(module)
    for name in sorted(module.__all__):
        described = getattr(module, name)
        if callable(described):
            for paragraph in (inspect.getdoc(described) or "").split("\n\n"):
                if len(paragraph.split()) >= 12 and ">>>" not in paragraph:
                    yield " ".join(paragraph.split())


module_of = {text: module for module in MODULES.split() for text in paragraphs(module)}
texts, modules = list(module_of), np.array(list(module_of.values()))
embed = make_pipeline(
    TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2),
    TruncatedSVD(256, random_state=0),
)
X = normalize(embed.fit_transform(texts)).astype(np.float32)
database, queries, y, query_y = train_test_split(X, modules, test_size=500, random_state=0)
print(f"{len(database)} embeddings of {database[0].nbytes} bytes")

# %%
# What a search has to find: the ten nearest embeddings by cosine.
affinity = NeighborAffinity(10, metric="cosine").fit(database)
exact = NearestNeighbors(n_neighbors=10, metric="cosine").fit(database)
true = exact.kneighbors(queries, return_distance=False)


def recall(hasher):
    """Recall of the ten nearest by codes, the mean over all orders of ties."""
    codes = hasher.fit(database).predict(database)
    histogram = retrieval_histogram(
        hasher.predict(queries), codes, queries, database, affinity=affinity
    )
    return histogram.recall(k=10).mean()


def rescored_recall(hasher):
    """The same when the floats of the 100 nearest codes put them in order."""
    index = HammingNeighbors(100).fit(hasher.predict(database))
    candidates = index.kneighbors(hasher.predict(queries), return_distance=False)
    _, nearest = rescore(queries, database, candidates, 10, metric="cosine")
    return np.mean([np.isin(a, b).mean() for a, b in zip(nearest, true)])


# %%
# The sign of the first numbers is what embeddings are usually compressed to. ``ITQHasher`` rotates
# principal directions. ``TALRLinear`` learns which embeddings are neighbors.
n_bits = [64, 128, 256]
makers = {
    "TALRLinear": lambda n: TALRLinear(n, random_state=0),
    "ITQHasher": lambda n: ITQHasher(n, random_state=0),
    "SignHasher": SignHasher,
}
hashers = {name: [make(n) for n in n_bits] for name, make in makers.items()}
by_codes = {name: [recall(hasher) for hasher in row] for name, row in hashers.items()}
by_floats = {name: [rescored_recall(hasher) for hasher in row] for name, row in hashers.items()}
for name in hashers:
    print(f"{name:11s}", *(f"{a:.2f} ({b:.2f})" for a, b in zip(by_codes[name], by_floats[name])))

# %%
# Truncated floats are the other way to save bytes: four bytes keep one number.
n_bytes = [n // 8 for n in n_bits]
truncated = []
for n in n_bytes:
    first = NearestNeighbors(n_neighbors=10, metric="cosine").fit(database[:, : n // 4])
    found = first.kneighbors(queries[:, : n // 4], return_distance=False)
    truncated.append(np.mean([np.isin(a, b).mean() for a, b in zip(found, true)]))

# %%
# Codes are searched in memory. If the floats are on a disk, reading 100 of them for a query finds
# most of what the codes alone miss.
figure, axes = plt.subplots(figsize=(7, 4.8), layout="constrained")
for color, name in zip(("C1", "C0", "C2"), hashers):
    axes.plot(n_bytes, by_codes[name], "o-", color=color, label=name)
    axes.plot(n_bytes, by_floats[name], "o--", color=color, mfc="white")
axes.plot(n_bytes, truncated, "s-", color="gray", label="first floats")
axes.plot([], [], "o--", color="black", mfc="white", label="100 nearest codes, rescored by floats")
axes.set_xscale("log", base=2)
axes.set_xticks(n_bytes, [str(n) for n in n_bytes])
axes.set(
    title=f"What is left of {database[0].nbytes} bytes",
    xlabel="bytes in memory for each embedding",
    ylabel="recall@10 of the true neighbors",
    ylim=(0, 1.02),
)
axes.grid(alpha=0.3)
figure.legend(fontsize="small", loc="outside lower center", ncols=3)
plt.show()

# %%
# With labels, the same hasher learns what they call similar. A search then is for paragraphs of the
# same module: 8 bytes that were learned with labels rank them better than 32 bytes that were not,
# and find fewer of the nearest embeddings.
labeled = TALRLinear(64, random_state=0).fit(database, y)
for name, hasher in {
    "TALRLinear, 64 bits, with labels": labeled,
    "TALRLinear, 256 bits": hashers["TALRLinear"][-1],
    "SignHasher, 256 bits": hashers["SignHasher"][-1],
}.items():
    codes, of_queries = hasher.predict(database), hasher.predict(queries)
    by_module = retrieval_histogram(of_queries, codes, query_y, y).average_precision().mean()
    near = retrieval_histogram(of_queries, codes, queries, database, affinity=affinity).recall(k=10)
    print(f"{name:32s}  average precision {by_module:.2f}, recall@10 {near.mean():.2f}")
