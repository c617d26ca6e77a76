"""The definitions of trec_eval, for one query, on dictionaries.

Items come by score, the highest first, and equal scores by id, the last in the alphabet first.
Items of a level below 0 are as if nobody had judged them.
"""

from math import log2


def ranked(run):
    return sorted(sorted(run, reverse=True), key=lambda doc: run[doc], reverse=True)


def _hits(qrels, run, k=None, rel=1):
    return [qrels.get(doc, 0) >= rel for doc in ranked(run)[:k]]


def _n_relevant(qrels, rel=1):
    return sum(level >= rel for level in qrels.values())


def average_precision(qrels, run, k=None, rel=1):
    hits = _hits(qrels, run, k, rel)
    precisions = [sum(hits[: i + 1]) / (i + 1) for i, hit in enumerate(hits) if hit]
    return sum(precisions) / _n_relevant(qrels, rel)


def ndcg(qrels, run, k=None):
    gains = [max(0, qrels.get(doc, 0)) for doc in ranked(run)[:k]]
    ideal = sorted((max(0, level) for level in qrels.values()), reverse=True)[:k]
    dcg, best = (sum(g / log2(i + 2) for i, g in enumerate(of)) for of in (gains, ideal))
    return dcg / best


def precision(qrels, run, k, rel=1):
    return sum(_hits(qrels, run, k, rel)) / k


def recall(qrels, run, k, rel=1):
    return sum(_hits(qrels, run, k, rel)) / _n_relevant(qrels, rel)


def reciprocal_rank(qrels, run, k=None, rel=1):
    hits = _hits(qrels, run, k, rel)
    return 1 / (hits.index(True) + 1) if True in hits else 0.0


def r_precision(qrels, run, rel=1):
    return precision(qrels, run, _n_relevant(qrels, rel), rel)


def success(qrels, run, k, rel=1):
    return float(any(_hits(qrels, run, k, rel)))


def bpref(qrels, run, rel=1):
    r = _n_relevant(qrels, rel)
    n = sum(0 <= level < rel for level in qrels.values())
    total, n_ahead = 0.0, 0
    for doc in ranked(run):
        level = qrels.get(doc, -1)
        if level < 0:
            continue
        if level < rel:
            n_ahead += 1
        else:
            total += 1 - min(n_ahead, r) / min(n, r) if n_ahead else 1
    return total / r


def rank_biased_precision(qrels, run, p, rel=1):
    return (1 - p) * sum(p**i for i, hit in enumerate(_hits(qrels, run, None, rel)) if hit)


# A measure, and its value.
MEASURES = {
    "ap": average_precision,
    "ap@3": lambda q, r: average_precision(q, r, 3),
    "ap:min_relevance=2": lambda q, r: average_precision(q, r, rel=2),
    "ndcg:gain=linear": ndcg,
    "ndcg@3:gain=linear": lambda q, r: ndcg(q, r, 3),
    "precision@3": lambda q, r: precision(q, r, 3),
    "precision@3:min_relevance=2": lambda q, r: precision(q, r, 3, 2),
    "recall@3": lambda q, r: recall(q, r, 3),
    "rr": reciprocal_rank,
    "rr@2": lambda q, r: reciprocal_rank(q, r, 2),
    "rprec": r_precision,
    "rprec:min_relevance=2": lambda q, r: r_precision(q, r, 2),
    "hit_rate@2": lambda q, r: success(q, r, 2),
    "bpref": bpref,
    "bpref:min_relevance=2": lambda q, r: bpref(q, r, 2),
    "rbp:p=0.5": lambda q, r: rank_biased_precision(q, r, 0.5),
}
