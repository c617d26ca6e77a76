"""
Average precision by code length
================================

How many bits does a hasher need? ``validation_curve`` of scikit-learn answers it for any parameter,
with the tie-aware score as it answers for any other. Five random splits of scikit-learn's digits;
in each, the held-out half is encoded, and every row retrieved against all the others.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedShuffleSplit, validation_curve

from sklearn_hashrank import ITQHasher, LSHHasher, LWHHasher, PCAHasher, RSHHasher, TALRLinear
from sklearn_hashrank.metrics import tie_aware_average_precision_score

X, y = load_digits(return_X_y=True)
N_BITS = (4, 8, 16, 32, 48)
hashers = {
    "random hyperplanes (LSH)": LSHHasher(random_state=0),
    "principal directions": PCAHasher(random_state=0),
    "iterative quantization (ITQ)": ITQHasher(random_state=0),
    "ranking lists (RSH)": RSHHasher(random_state=0),
    "structural SVM (LWH)": LWHHasher(random_state=0),
    "the measure itself (TALR)": TALRLinear(random_state=0),
}

# %%
# The splits are the same for all hashers, and so is the score.
options = {
    "param_name": "n_bits",
    "param_range": N_BITS,
    "cv": StratifiedShuffleSplit(n_splits=5, test_size=0.5, random_state=0),
    "scoring": make_scorer(tie_aware_average_precision_score),
    "n_jobs": 2,
}
figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")
print(f"{'':30s}" + "".join(f"{n_bits:4d} bits   " for n_bits in N_BITS))
for (name, hasher), marker in zip(hashers.items(), "ov^sDP"):
    _, scores = validation_curve(hasher, X, y, **options)
    mean, deviation = scores.mean(axis=1), scores.std(axis=1, ddof=1)
    axis.errorbar(N_BITS, mean, deviation, marker=marker, markersize=4, capsize=3, label=name)
    print(f"{name:30s}" + " ".join(f"{m:.3f} ±{d:.3f}" for m, d in zip(mean, deviation)))

axis.set_xscale("log", base=2)
axis.set_xticks(N_BITS, [str(n_bits) for n_bits in N_BITS])
axis.minorticks_off()
axis.set(xlabel="bits", ylabel="tie-aware average precision", ylim=(0, 1))
axis.legend(fontsize="small", loc="lower right")
plt.show()

# %%
# Error bars are standard deviations over the splits. Supervision by relevance is worth more than
# bits: eight that know the classes rank better than 48 that do not. More bits are not always
# better: principal directions, each of less variance than the one before, lose from eight bits on,
# and RSH loses between 32 and 48.
