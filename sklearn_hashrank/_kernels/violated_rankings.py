"""Find the ranking that a structural SVM finds most violated, in O(n log n) for each query.

With relevant and irrelevant items each in descending order of score, what remains to choose is how
many relevant items, a, stand before the j-th irrelevant one. Loss and score add up over j (Yue et
al. 2007), and what depends on a is

    AP:    -(H(a + j - 1) + j / (a + j)) / n+  +  2 / (n+ n-) (P_a - a s_j)
    NDCG:         D(a + j) / ideal             +  2 / (n+ n-) (P_a - a s_j)

with H harmonic numbers, D discounts, P_a the sum of the a highest relevant scores and s_j the
irrelevant score. The best a never falls as j rises, so that the best of the middle j bounds all
others, and halving finds them all.
"""

import numpy as np

from ._jit import kernel

AP, NDCG = 0, 1
_DEEPEST = 80  # halvings of any range, and some


@kernel
def _push(stack, top, first, stop, low, high):
    stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = first, stop, low, high


@kernel
def _place_irrelevant(relevant_sums, irrelevant, table, scale, loss, places, stack):
    """Write the best number of relevant items before each irrelevant one to `places`."""
    n_relevant, n_irrelevant = relevant_sums.size - 1, irrelevant.size
    weight = 2.0 / (n_relevant * n_irrelevant)
    _push(stack, 0, 0, n_irrelevant, 0, n_relevant)
    top = 1
    while top:
        top -= 1
        first, stop, low, high = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        middle = (first + stop) // 2
        score = irrelevant[middle]
        best, best_value = low, -np.inf
        for a in range(low, high + 1):
            t = a + middle + 1
            value = weight * (relevant_sums[a] - a * score)
            if loss == AP:
                value -= scale * (table[t - 1] + (middle + 1) / t)
            else:
                value += scale * table[t]
            if value > best_value:
                best, best_value = a, value
        places[middle] = best
        if first < middle:
            _push(stack, top, first, middle, low, best)
            top += 1
        if middle + 1 < stop:
            _push(stack, top, middle + 1, stop, best, high)
            top += 1


@kernel
def most_violated_rankings(scores, order, relevant, left_out, table, loss, counts, losses):
    """Find the ranking y of each query with the largest loss(y) + F(y), as counts of inversions.

    Parameters
    ----------
    scores : (n_queries, n) float
    order : (n_queries, n) int64, items by descending score
    relevant : (n_queries, n) bool; some but not all of each row, `left_out` aside
    left_out : (n_queries,) int64, the item that is not ranked, or -1
    table : (n + 1,) float64, harmonic numbers H(t) for AP, discounts D(t) of rank t for NDCG
    loss : AP or NDCG
    counts : (n_queries, n) float, written: for a relevant item the irrelevant ones before it, for
        an irrelevant one minus the relevant ones behind it
    losses : (n_queries,) float64, written: the loss of each ranking
    """
    n_queries, n = scores.shape
    relevant_items, irrelevant_items = np.empty(n, np.int64), np.empty(n, np.int64)
    relevant_sums, irrelevant_scores = np.zeros(n + 1), np.empty(n)
    places = np.empty(n, np.int64)
    stack = np.empty((_DEEPEST, 4), np.int64)
    for q in range(n_queries):
        n_relevant = n_irrelevant = 0
        for item in order[q]:
            if item == left_out[q]:
                counts[q, item] = 0
            elif relevant[q, item]:
                relevant_items[n_relevant] = item
                relevant_sums[n_relevant + 1] = relevant_sums[n_relevant] + scores[q, item]
                n_relevant += 1
            else:
                irrelevant_items[n_irrelevant] = item
                irrelevant_scores[n_irrelevant] = scores[q, item]
                n_irrelevant += 1
        ideal = 0.0
        for t in range(1, n_relevant + 1):
            ideal += 1.0 if loss == AP else table[t]
        _place_irrelevant(
            relevant_sums[: n_relevant + 1],
            irrelevant_scores[:n_irrelevant],
            table,
            1.0 / ideal,
            loss,
            places,
            stack,
        )
        gain, before = 0.0, 0
        for i in range(n_relevant):
            while before < n_irrelevant and places[before] <= i:
                counts[q, irrelevant_items[before]] = places[before] - n_relevant
                before += 1
            counts[q, relevant_items[i]] = before
            gain += (i + 1) / (i + 1 + before) if loss == AP else table[i + 1 + before]
        for j in range(before, n_irrelevant):
            counts[q, irrelevant_items[j]] = 0
        losses[q] = 1.0 - gain / ideal


@kernel
def count_auc_inversions(scores, order, relevant, left_out, counts, losses):
    """Find the ranking y of each query with the largest 1 - AUC(y) + F(y), as counts of inversions.

    Every pair counts alike, so that an irrelevant item stands before a relevant one where its score
    is less than half a unit below.

    Parameters
    ----------
    scores, order, relevant, left_out, counts, losses
        As for `most_violated_rankings`.
    """
    n_queries, n = scores.shape
    relevant_items, irrelevant_items = np.empty(n, np.int64), np.empty(n, np.int64)
    for q in range(n_queries):
        n_relevant = n_irrelevant = 0
        for item in order[q]:
            if item == left_out[q]:
                counts[q, item] = 0
            elif relevant[q, item]:
                relevant_items[n_relevant] = item
                n_relevant += 1
            else:
                irrelevant_items[n_irrelevant] = item
                counts[q, item] = 0
                n_irrelevant += 1
        before, total = 0, 0
        for i in range(n_relevant):
            bound = scores[q, relevant_items[i]] - 0.5
            while before < n_irrelevant and scores[q, irrelevant_items[before]] > bound:
                counts[q, irrelevant_items[before]] = i - n_relevant
                before += 1
            counts[q, relevant_items[i]] = before
            total += before
        losses[q] = total / (n_relevant * n_irrelevant)
