"""Evaluate runs in ir_measures by the mean over all orders of tied items."""

from functools import lru_cache
from typing import Any

from .._utils.extras import needed
from ..metrics._configured import ConfiguredMeasure, configure_measure
from ..metrics._histogram import RetrievalHistogram

_NAME = "hashrank"
_NAMES = {
    "AP": "ap",
    "nDCG": "ndcg",
    "P": "precision",
    "R": "recall",
    "RR": "rr",
    "Rprec": "rprec",
    "Success": "hit_rate",
    "RBP": "rbp",
    "Bpref": "bpref",
}
_OPTIONS = {"cutoff": "k", "rel": "min_relevance", "p": "p", "dcg": "gain"}
_GAINS = {"log2": "linear", "exp-log2": "exponential"}


def register_ir_measures() -> Any:
    """Register this package as a provider of ir_measures. Needs ir_measures 0.4.

    The provider evaluates AP, nDCG, P, R, RR, Rprec, Success, Bpref and, of binary relevance, RBP.
    Its values do not depend on the names of tied items, or on their order in the run: each is the
    mean over all orders.

    Returns
    -------
    provider : ir_measures.Provider
        Also ``ir_measures.providers.registry["hashrank"]``.

    Examples
    --------
    >>> import ir_measures
    >>> from sklearn_hashrank.interop import register_ir_measures
    >>> provider = register_ir_measures()
    >>> qrels = {"q": {"a": 1, "d": 1}}
    >>> run = {"q": dict.fromkeys("abcdef", 0.5)}
    >>> measure = ir_measures.AP
    >>> round(provider.calc_aggregate([measure], qrels, run)[measure], 3)
    0.527
    """
    with needed("pip install ir_measures"):
        import ir_measures
    return ir_measures.providers.registry.get(_NAME) or ir_measures.providers.register(_provider())


@lru_cache(maxsize=1)
def _provider() -> Any:
    """Make the provider; its classes are those of ir_measures, which is imported here alone."""
    import ir_measures
    from ir_measures import measures as m
    from ir_measures.providers.base import NOT_PROVIDED, Choices
    from ir_measures.providers.base import Any as Anything
    from ir_measures.util import QrelsConverter, RunConverter

    class TieAwareEvaluator(ir_measures.Evaluator):
        """Values of a run, for measures and qrels that are known."""

        def __init__(self, measures: Any, qrels: Any):
            self.qrels = QrelsConverter(qrels).as_dict_of_dict()
            super().__init__(list(measures), set(self.qrels))

        def _iter_calc(self, run: Any) -> Any:
            run = RunConverter(run).as_dict_of_dict()
            if not any(query in run for query in self.qrels):
                return
            histograms: dict[bool, RetrievalHistogram] = {}
            for measure in self.measures:
                judged_only = _option(measure, "judged_only", NOT_PROVIDED) is True
                if judged_only not in histograms:
                    histograms[judged_only] = RetrievalHistogram.from_run(
                        self.qrels,
                        run,
                        queries="both",
                        unjudged="remove" if judged_only else "irrelevant",
                    )
                histogram = histograms[judged_only]
                values = histogram.measure(_ours(measure, NOT_PROVIDED))
                for query, value in zip(histogram.query_ids or [], values.tolist()):
                    yield ir_measures.Metric(query_id=query, measure=measure, value=value)

    class TieAwareProvider(ir_measures.Provider):
        """Means over all orders of tied items."""

        NAME = _NAME
        _BINARY = {"rel": Anything(), "judged_only": Anything()}
        SUPPORTED_MEASURES = [
            m._AP(cutoff=Anything(), **_BINARY),
            m._P(cutoff=Anything(), **_BINARY),
            m._R(cutoff=Anything(), **_BINARY),
            m._RR(cutoff=Anything(), **_BINARY),
            m._Rprec(**_BINARY),
            m._Success(cutoff=Anything(), **_BINARY),
            m._Bpref(rel=Anything()),
            m._RBP(cutoff=Anything(), p=Anything(), rel=Anything(required=True)),
            m._nDCG(
                cutoff=Anything(),
                dcg=Choices("log2", "exp-log2"),
                gains=Choices(NOT_PROVIDED),
                judged_only=Anything(),
            ),
        ]

        def _evaluator(self, measures: Any, qrels: Any) -> Any:
            return TieAwareEvaluator(measures, qrels)

    return TieAwareProvider()


def _option(measure: Any, name: str, missing: object) -> Any:
    if name not in measure.SUPPORTED_PARAMS:
        return None
    value = measure[name]
    return None if value is missing else value


def _ours(measure: Any, missing: object) -> ConfiguredMeasure:
    """Translate a measure of ir_measures, but for `judged_only`; its nDCG has linear gains."""
    options: dict[str, Any] = {"zero_division": 0}
    for theirs, ours in _OPTIONS.items():
        value = _option(measure, theirs, missing)
        if value is not None:
            options[ours] = value
    if measure.NAME == "nDCG":
        options["gain"] = _GAINS[options.get("gain", "log2")]
    return configure_measure(_NAMES[measure.NAME], **options)
