"""
Hash the digits, and see what ties do to a score
================================================

Random hyperplanes turn the 64 pixels of scikit-learn's digits into short binary codes. Retrieval
by Hamming distance has only ``n_bits + 1`` different distances, so that many items are tied, and
the score of the very same codes depends on how ties are broken. The tie-aware score is the exact
mean over all orders of tied items; no sorting routine can move it.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sklearn_hashrank import LSHHasher, retrieval_histogram

X, y = load_digits(return_X_y=True)
X_database, X_query, y_database, y_query = train_test_split(
    X, y, test_size=200, stratify=y, random_state=0
)
print(f"{len(X_query)} queries, {len(X_database)} database items, 10 classes\n")

# %%
# One pass over the codes gives a retrieval histogram, and every score follows from it.
print("bits  measure    pessimistic   tie-aware  optimistic")
for n_bits in (8, 16, 32, 64):
    hasher = LSHHasher(n_bits=n_bits, output="packed", random_state=0).fit(X_database)
    histogram = retrieval_histogram(
        hasher.transform(X_query), hasher.codes_, y_query, y_database, n_bits=n_bits
    )
    for name, measure in (("AP", histogram.average_precision), ("NDCG", histogram.ndcg)):
        worst, mean, best = (
            measure(ties=ties).mean() for ties in ("pessimistic", "expected", "optimistic")
        )
        print(f"{n_bits:4d}  {name:9s} {worst:12.4f} {mean:11.4f} {best:11.4f}")

# %%
# The range between the bounds is what a paper could report for the same codes by choosing the
# order of ties. It shrinks as codes grow longer, and never vanishes.
