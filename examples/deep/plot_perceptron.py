"""
Hash embeddings with a perceptron
=================================

Embeddings come from a model that you do not train, and labels say which of them belong together.
A linear hasher learns what linear functions of the embeddings can say of the labels; a perceptron
with one hidden layer learns more, in seconds as well. Here the texts are paragraphs of the
documentation of numpy, scipy and scikit-learn, and the labels are the modules they come from.
"""

import importlib
import inspect

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from sklearn_hashrank import ITQHasher, TALRLinear
from sklearn_hashrank.deep import DeepHasher
from sklearn_hashrank.metrics import make_retrieval_scorer

MODULES = (
    "numpy.linalg numpy.random scipy.linalg scipy.ndimage scipy.optimize sklearn.cluster "
    "sklearn.linear_model sklearn.metrics sklearn.preprocessing"
)

module_of = {}
for name in MODULES.split():
    for public in vars(importlib.import_module(name)).values():
        for paragraph in (inspect.getdoc(public) or "").split("\n\n") if callable(public) else ():
            if len(paragraph.split()) >= 12 and ">>>" not in paragraph:
                module_of[" ".join(paragraph.split())] = name
embed = make_pipeline(
    TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2),
    TruncatedSVD(256, random_state=0),
)
X = normalize(embed.fit_transform(module_of)).astype(np.float32)
database, queries, y, query_y = train_test_split(
    X, list(module_of.values()), test_size=500, random_state=0
)
print(f"{len(database)} embeddings of {len(set(y))} modules, {len(queries)} queries")

# %%
# All three are hashers: they are fitted, scored and stored in the same way. The queries are
# paragraphs that none of them has seen.
lengths = (12, 24, 48)
average_precision = make_retrieval_scorer("ap", database="fit")
hashers = {
    "ITQ, no labels": lambda n_bits: ITQHasher(n_bits, random_state=0),
    "TALRLinear": lambda n_bits: TALRLinear(n_bits, random_state=0),
    "DeepHasher": lambda n_bits: DeepHasher(n_bits=n_bits, random_state=0),
}
scores = {
    name: [average_precision(make(n_bits).fit(database, y), queries, query_y) for n_bits in lengths]
    for name, make in hashers.items()
}
print("tie-aware AP" + "".join(f"{n_bits:7d} bits" for n_bits in lengths))
for name, values in scores.items():
    print(f"{name:14s}" + "".join(f"{value:12.3f}" for value in values))

# %%
# ``early_stopping=True`` keeps rows for validation and measures their average precision after every
# pass. Each step leaves out a share of the features and of the hidden units, so the objective of
# the batches can stay below that of the validation rows.
watched = DeepHasher(
    n_bits=24, early_stopping=True, validation_fraction=0.2, n_iter_no_change=40, random_state=0
)
watched.fit(database, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for (name, values), marker in zip(scores.items(), "ov^"):
    left.plot(lengths, values, marker=marker, label=name)
left.set(title="codes of new paragraphs", xlabel="bits", ylabel="tie-aware AP", xticks=lengths)
left.legend()
passes = np.arange(1, watched.n_iter_ + 1)
right.plot(passes, watched.history_["objective"], label="relaxed AP of the batches")
right.plot(passes, watched.history_["validation"], label="AP of the validation rows")
right.set(title="a fit of 24 bits", xlabel="passes over the training rows")
right.legend()
plt.show()
