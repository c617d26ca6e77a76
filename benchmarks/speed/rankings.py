"""Evaluate rankings by scores: ours against pytrec_eval, ir_measures and ranx, in one process.

    python -m benchmarks.speed.rankings --queries 10000 --items 1000

The peers must be installed: pip install pytrec-eval-terrier ir_measures ranx. Each line gives
seconds and how many times longer a peer takes. Peers that would take minutes are timed on fewer
queries, and their time is multiplied; the line says so.
"""

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from sklearn_hashrank import RetrievalHistogram

MEASURES = (
    *("ap", "ndcg:gain=linear", "ndcg@10:gain=linear", "precision@10", "recall@100"),
    *("rr", "rprec", "hit_rate@5"),
)
OF_IR_MEASURES = ("AP", "nDCG", "nDCG@10", "P@10", "R@100", "RR", "Rprec", "Success@5")
OF_PYTREC_EVAL = {
    *("map", "ndcg", "ndcg_cut_10", "P_10", "recall_100", "recip_rank", "Rprec", "success_5")
}
OF_RANX = [
    *("map", "ndcg", "ndcg@10", "precision@10", "recall@100", "mrr", "r-precision", "hit_rate@5")
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--relevant", type=int, default=20, help="of each query")
    parser.add_argument("--peer-queries", type=int, default=1000, help="of the slow peers")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--only-ours", action="store_true")
    parser.add_argument("--cpu", action="store_true", help="CPU seconds, for a busy machine")
    options = parser.parse_args()
    if options.cpu:
        global clock
        clock = time.process_time
    relevance, scores = rankings(options.queries, options.items, options.relevant)
    evaluate(RetrievalHistogram.from_scores(relevance[:9], scores[:9]))  # compiles

    def evaluate_arrays():
        return evaluate(from_scores(relevance, scores, options.n_jobs))

    qrels, run = dictionaries(relevance, scores)
    few = dict(list(qrels.items())[: options.peer_queries])
    few_run = {query: run[query] for query in few}
    times = options.queries / len(few)
    print(f"{len(MEASURES)} measures, {options.queries:,} queries x {options.items:,} items")
    if options.only_ours:
        print(f"ours, from arrays                {best(evaluate_arrays)[0]:8.3f} s")
    else:
        against_peers(few, few_run, times, evaluate_arrays)

    reading, _ = best(lambda: read(qrels, run))
    counted, _ = best(lambda: RetrievalHistogram.from_run(qrels, run, n_jobs=options.n_jobs))
    print(f"reading the dictionaries         {reading:8.3f} s")
    print(f"ours, from dictionaries          {counted:8.3f} s   {counted / reading:6.2f} x reading")
    with tempfile.TemporaryDirectory() as folder:
        files = write(Path(folder), few, few_run)
        seconds, _ = best(lambda: evaluate(RetrievalHistogram.from_run(*files)), 1)
        print(f"ours, from files, {len(few):,} queries   {seconds:8.3f} s")
        if not options.only_ours:
            theirs, _ = best(lambda: by_ir_measures(*files), 1)
            print(f"ir_measures, from files          {theirs:8.3f} s   {theirs / seconds:6.1f} x")


def rankings(n_queries, n_items, n_relevant):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(n_queries, n_items))
    relevance = np.zeros((n_queries, n_items), dtype=int)
    for row in relevance:
        row[rng.choice(n_items, n_relevant, replace=False)] = rng.integers(1, 4, n_relevant)
    return relevance, scores


def dictionaries(relevance, scores):
    docs = [f"doc{i:05d}" for i in range(scores.shape[1])]
    run = {f"q{q}": dict(zip(docs, row)) for q, row in enumerate(scores.tolist())}
    qrels = {
        f"q{q}": {docs[i]: int(row[i]) for i in np.flatnonzero(row)}
        for q, row in enumerate(relevance)
    }
    return qrels, run


def from_scores(relevance, scores, n_jobs):
    return RetrievalHistogram.from_scores(relevance, scores, n_jobs=n_jobs)


def evaluate(histogram):
    return {name: histogram.measure(name).mean() for name in MEASURES}


def read(qrels, run):
    """Numbers of the dictionaries as arrays, and the scores of the judged items."""
    scores = np.empty(sum(map(len, run.values())))
    start, found = 0, []
    for query, judged in qrels.items():
        docs = run[query]
        scores[start : start + len(docs)] = np.fromiter(docs.values(), np.float64, len(docs))
        start += len(docs)
        found.extend([docs.get(doc) for doc in judged])
    return scores, np.array(found)


def against_peers(qrels, run, times, evaluate_arrays):
    import pytrec_eval
    import ranx

    evaluator = pytrec_eval.RelevanceEvaluator(qrels, OF_PYTREC_EVAL)
    ours = seconds = np.inf
    for _ in range(7):  # in turns: both meet the same load
        ours = min(ours, best(evaluate_arrays, 3)[0])
        seconds = min(seconds, best(lambda: evaluator.evaluate(run), 1)[0])
    print(f"ours, from arrays                {ours:8.3f} s")
    report("pytrec_eval, objects ready", seconds * times, ours, times)
    of_ranx = ranx.Qrels(qrels), ranx.Run(run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranx.evaluate(*of_ranx, OF_RANX)
        seconds, _ = best(lambda: ranx.evaluate(*of_ranx, OF_RANX))
    report("ranx, objects ready", seconds * times, ours, times)


def report(who, seconds, ours, times):
    scaled = f", measured on 1/{times:.0f} of the queries" if times > 1 else ""
    print(f"{who:32} {seconds:8.3f} s   {seconds / ours:6.1f} x{scaled}")


def write(folder, qrels, run):
    files = folder / "qrels.txt", folder / "run.txt"
    with open(files[0], "w") as file:
        for query, docs in qrels.items():
            file.writelines(f"{query} 0 {doc} {level}\n" for doc, level in docs.items())
    with open(files[1], "w") as file:
        for query, docs in run.items():
            file.writelines(f"{query} Q0 {doc} 1 {score} us\n" for doc, score in docs.items())
    return files


def by_ir_measures(qrels, run):
    import ir_measures

    measures = [ir_measures.parse_measure(name) for name in OF_IR_MEASURES]
    read_qrels = ir_measures.read_trec_qrels(str(qrels))
    return ir_measures.calc_aggregate(measures, read_qrels, ir_measures.read_trec_run(str(run)))


clock = time.perf_counter


def best(function, n_times=7):
    seconds = []
    for _ in range(n_times):
        start = clock()
        result = function()
        seconds.append(clock() - start)
    return min(seconds), result


if __name__ == "__main__":
    main()
