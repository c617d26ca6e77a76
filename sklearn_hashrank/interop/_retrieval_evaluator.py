"""Evaluate models of sentence-transformers by the mean over all orders of tied texts."""

from functools import lru_cache
from typing import Any, Literal

import numpy as np

from .._utils.extras import needed
from ..codes._distances import hamming_distances
from ..metrics._configured import configure_measure
from ..metrics._histogram import RetrievalHistogram

_MEASURES = ("ndcg@10:gain=linear", "ap", "rr@10", "hit_rate@1", "recall@100")


def tie_aware_evaluator(
    queries: dict[str, Any],
    corpus: dict[str, Any],
    relevant_docs: dict[str, Any],
    *,
    hasher: Any = None,
    measures: Any = _MEASURES,
    name: str = "",
    batch_size: int = 32,
    show_progress_bar: bool = False,
    n_jobs: int | None = None,
) -> Any:
    """Make an evaluator of sentence-transformers whose values do not depend on the order of ties.

    Use it in place of ``InformationRetrievalEvaluator``, which breaks ties by the order of the
    corpus: quantized embeddings and codes have many. Needs sentence-transformers 6.

    Parameters
    ----------
    queries, corpus : dict of str to str
        Texts by their names.
    relevant_docs : dict of str to set of str, or to dict of str to float
        Names of the relevant texts of each query, or their relevance levels.
    hasher : estimator, default=None
        A fitted hasher. Then the embeddings are encoded, and ranked by the Hamming distance of
        their codes. None: they are ranked by ``model.similarity``.
    measures : list of str
        Names of measures, of which the first is the primary one. Default: ``ndcg@10:gain=linear``,
        ``ap``, ``rr@10``, ``hit_rate@1`` and ``recall@100``.
    name : str, default=""
        Comes first in the names of the values.
    batch_size : int, default=32
        Texts that the model embeds at a time.
    show_progress_bar : bool, default=False
        Whether the model shows its progress.
    n_jobs : int, default=None
        Threads over queries. None means 1 unless in a :obj:`joblib.parallel_config` context, -1
        means all processors.

    Returns
    -------
    evaluator : sentence_transformers.sentence_transformer.evaluation.SentenceEvaluator
        ``evaluator(model)`` is a dict of values by ``name_measure``.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> from sklearn_hashrank.interop import tie_aware_evaluator
    >>> class Model:  # has what the evaluator asks of a SentenceTransformer
    ...     similarity_fn_name = "dot"
    ...     def encode_query(self, texts, **options):
    ...         return np.array([[float(len(text))] for text in texts])
    ...     encode_document = encode_query
    ...     def similarity(self, queries, documents):
    ...         return torch.as_tensor(queries @ documents.T)
    >>> corpus = {"a": "of five", "b": "of five", "c": "short"}
    >>> evaluator = tie_aware_evaluator({"q": "any"}, corpus, {"q": {"b"}}, measures=["rr"])
    >>> evaluator(Model())
    {'rr': 0.75}
    """
    with needed('pip install "sentence-transformers>=6"'):
        from sentence_transformers.sentence_transformer.evaluation import SentenceEvaluator
    embedding = {"batch_size": batch_size, "show_progress_bar": show_progress_bar}
    return _evaluator_class(SentenceEvaluator)(
        queries, corpus, relevant_docs, hasher, measures, name, embedding, n_jobs
    )


@lru_cache(maxsize=1)
def _evaluator_class(base: type) -> type:
    class TieAwareRetrievalEvaluator(base):
        """Means over all orders of tied texts."""

        def __init__(
            self, queries, corpus, relevant_docs, hasher, measures, name, embedding, n_jobs
        ):
            super().__init__()
            self.query_ids = [query for query in queries if relevant_docs.get(query)]
            unknown = {doc for q in self.query_ids for doc in relevant_docs[q]} - corpus.keys()
            if not self.query_ids or unknown:
                raise ValueError(
                    "relevant_docs must name texts of the corpus for at least one query. Got "
                    f"{len(self.query_ids)} such queries, and {len(unknown)} unknown names."
                )
            self.queries = [queries[query] for query in self.query_ids]
            self.corpus = list(corpus.values())
            places = {doc: place for place, doc in enumerate(corpus)}
            self.levels = np.zeros((len(self.queries), len(places)))
            for row, query in zip(self.levels, self.query_ids):
                docs = relevant_docs[query]
                for doc in docs:
                    row[places[doc]] = docs[doc] if isinstance(docs, dict) else 1
            self.measures = {each: configure_measure(each) for each in measures}
            self.hasher, self.name, self.n_jobs = hasher, name, n_jobs
            self.embedding = embedding
            self.primary_metric = self._title(next(iter(self.measures)))

        def _title(self, measure: str) -> str:
            return f"{self.name}_{measure}" if self.name else measure

        def __call__(
            self, model: Any, output_path: Any = None, epoch: int = -1, steps: int = -1
        ) -> dict[str, float]:
            histogram = self.histogram(model)
            values = {
                self._title(name): float(np.nanmean(histogram.measure(measure)))
                for name, measure in self.measures.items()
            }
            if hasattr(model, "model_card_data"):
                self.store_metrics_in_model_card_data(model, values, epoch, steps)
            return values

        def histogram(self, model: Any) -> RetrievalHistogram:
            """Embed the texts and rank them: every measure of the ranking, by query."""
            embeddings = (
                model.encode_query(self.queries, **self.embedding),
                model.encode_document(self.corpus, **self.embedding),
            )
            order: Literal["similarity", "distance"]
            if self.hasher is None:
                scores, order = model.similarity(*embeddings), "similarity"
            else:
                codes = (self.hasher.predict(np.asarray(each)) for each in embeddings)
                scores, order = hamming_distances(*codes), "distance"
            return RetrievalHistogram.from_scores(
                self.levels, scores, order=order, query_ids=self.query_ids, n_jobs=self.n_jobs
            )

    return TieAwareRetrievalEvaluator
