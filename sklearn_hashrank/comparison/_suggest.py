"""Try the methods that suit some data on a sample of them: :func:`suggest`."""

import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._utils.parameters import as_names, is_int, is_real
from .._utils.threads import one_blas_thread
from ..affinity._auto import affinity_to_learn_from, auto_affinity, fit_affinity, is_auto
from ..affinity._learnable import check_can_learn
from ..affinity._neighbors import NeighborAffinity
from ..affinity._protocol import BaseAffinity
from ..metrics._configured import ConfiguredMeasure
from ..metrics._counting import retrieval_histogram
from ..metrics._settings import with_settings
from ..model_selection._splits import RetrievalSplit
from ..model_selection._unseen import UnseenClassesSplit
from ._columns import columns_of, name_measures
from ._comparison import affinity_of_hashers, check_data, with_affinity
from ._data_checks import describe_refusals, find_refusals
from ._method_table import METHODS, SITUATIONS, Method, method_from_name
from ._runner import Run, fit_and_encode, warm_up
from ._suggestion import Suggestion, Trial, choose
from ._time_budget import TimeBudget, expected_seconds

_NEIGHBORS = 10
_SHARE_OF_QUERIES, _MOST_QUERIES, _FEWEST_ROWS = 0.2, 1000, 10
# The best by .02 on one of seven sets of two or three classes, and behind on five of the others.
_FEW_CLASSES, _OF_FEW_CLASSES = 3, ("lwh",)
_LAST = ("classifier",)  # of many classes it may take as long as all others together
_FEWEST_OF_A_NEW_CLASS = 3  # a query, and two that it can find


def suggest(
    X: Any,
    y: Any = None,
    *,
    n_bits: int = 32,
    new_classes: bool = False,
    methods: str | Iterable[str] | None = None,
    affinity: Any = "auto",
    measure: str | None = None,
    max_rows: int = 3000,
    n_splits: int = 3,
    time_budget: float | None = 120,
    random_state: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Suggestion:
    """Try the methods that suit the data on a sample with held-out queries, and say which to take.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        All rows. Training rows, database and queries are sampled from them.
    y : array-like with n_samples rows, default=None
        What relevance is computed from. None: hashers learn without it, and the ten nearest rows of
        `X` are relevant.
    n_bits : int, default=32
        Length of the codes.
    new_classes : bool, default=False
        Whether queries and database will be of classes that are not among the training rows. A
        third of the classes is then held out.
    methods : str or iterable of str, default=None
        The candidates, as for :func:`method_from_name`. None: those that `METHODS` names for the
        situation.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant.
    measure : str, default=None
        What decides, as for :func:`compare`. None: AP where relevance is yes or no, NDCG where it
        is graded, and ``"recall@10"`` without `y`.
    max_rows : int, default=3000
        Most training rows. The database holds as many others besides, where there are so many.
    n_splits : int, default=3
        How many times rows are sampled. Each split has a seed of its own, for the hashers, too.
    time_budget : float or None, default=120
        Seconds to spend. No fit begins that is expected to end later. What a method is expected to
        take follows from its last fit; before the first, from fits of a sixteenth and, where that
        leaves doubt, of an eighth and a quarter of the training rows. What has begun is finished,
        so that more time is taken where a fit is slower than expected, or where none is expected to
        end in time: then the one that is expected to end first is tried. None: no limit. Splits are
        done one after the other, so that all candidates have the first one before any has the
        second.
    random_state : int, default=0
        Seed of the first split; the others follow.
    progress : callable, default=None
        Called with a line of text after each run.

    Returns
    -------
    suggestion : Suggestion
        The choice, its reason and the numbers. Printing it shows all of them.

    See Also
    --------
    compare : Any methods at several code lengths, with a report.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank.comparison import suggest
    >>> X, y = load_digits(return_X_y=True)
    >>> found = suggest(X, y, n_bits=16, max_rows=400, methods=["itq", "rsh"])
    >>> print(str(found).partition(":")[0])
    Take rsh
    >>> hasher = found.hasher.fit(X, y)
    """
    _check_options(n_bits, max_rows, n_splits, time_budget, random_state)
    budget = TimeBudget(time_budget)
    X, y = check_data(X, y)
    if X.shape[0] < _FEWEST_ROWS:
        raise ValueError(
            f"suggest holds rows out as queries and needs at least {_FEWEST_ROWS} rows. "
            f"Got n_samples = {X.shape[0]}."
        )
    compared = X if y is None else y
    judged = _judged_by(affinity, X, y)
    fitted = fit_affinity(judged, compared)
    if y is not None:
        check_can_learn("suggest", fitted, y)
    is_graded = y is not None and int(np.count_nonzero(fitted.levels_ > 0)) > 1
    situation = _situation(y, is_graded, new_classes)
    title, configured = _measure(measure, y, is_graded)
    groups = None if y is None else fitted.group(fitted.validate(y))[1]
    sample = _sample_new_classes if new_classes else _sample
    splits = {
        seed: sample(X, y, groups, max_rows, seed)
        for seed in range(random_state, random_state + n_splits)
    }
    names = _candidates(situation, groups)
    if methods is not None:
        names = list(dict.fromkeys(as_names(methods, "methods")))
    learned = affinity_of_hashers(affinity, judged, y, splits.values())
    wanted = {
        name: with_settings(
            with_affinity(method_from_name(name), learned),
            n_bits=n_bits,
            random_state=random_state,
        )
        for name in names
    }
    first = splits[random_state]
    hashers, left_out = _without_refused(wanted, X, y, first)

    trials = {name: _Runs(configured) for name in hashers}
    for number, (seed, split) in enumerate(splits.items(), start=1):
        of_train = fit_affinity(judged, compared[split.train]).without_database()
        seeded = {
            name: with_settings(hasher, random_state=seed) for name, hasher in hashers.items()
        }
        for name in _names_in_time(trials, seeded, X, y, split, of_train, budget):
            trials[name].add(seeded[name], X, y, split, of_train)
            if progress is not None:
                said = trials[name].describe_last()
                progress(f"split {number} of {n_splits}: {name}: {title} {said}")
    left_out |= {name: runs.why_none for name, runs in trials.items() if not runs}
    about = {
        "situation": SITUATIONS[situation],
        "relevance": fitted.describe(compared, "rows" if y is None else "y"),
        "sample": _describe_sample(first, X.shape[0], n_splits, n_bits),
    }
    fewer = {name: len(runs.values) for name, runs in trials.items() if runs}
    fewer = {name: n for name, n in fewer.items() if n < n_splits}
    if fewer:
        about["fewer splits, for lack of time"] = ", ".join(f"{k} {n}" for k, n in fewer.items())
    found = sorted(
        (runs.trial(name) for name, runs in trials.items() if runs),
        key=lambda trial: -trial.mean,
    )
    others = _not_tried(names, y) if methods is None else {}
    hasher = wanted[choose(found)[0].method]
    return Suggestion(hasher, found, left_out, others, about, title, n_bits)


class _Runs:
    """The runs of one candidate, a split each."""

    def __init__(self, configured: ConfiguredMeasure):
        self._configured = configured
        self.values: list[np.ndarray] = []
        self.expected_seconds, self.why_none = math.inf, ""
        self._times: list[tuple[float, float]] = []  # training, encoding

    def __len__(self) -> int:
        return len(self.values)

    def is_expected_in_time(
        self, budget: TimeBudget, hasher: Any, X: Any, y: Any, split: RetrievalSplit, affinity: Any
    ) -> bool:
        """Whether a run is expected to end before the time is used up."""
        if math.isinf(self.expected_seconds) and 0 < budget.seconds_left < math.inf:
            with one_blas_thread(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warm_up(hasher, X, y, split, affinity)
                self.expected_seconds = expected_seconds(hasher, X, y, split.train, budget)
        reason = budget.why_not(self.expected_seconds)
        self.why_none = self.why_none or reason
        return not reason

    def add(self, hasher: Any, X: Any, y: Any, split: RetrievalSplit, affinity: Any) -> None:
        """Fit, encode and measure, on one thread."""
        began = time.perf_counter()
        compared = X if y is None else y
        with one_blas_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warm_up(hasher, X, y, split, affinity)
            timed = fit_and_encode(hasher, X, y, split)
            histogram = retrieval_histogram(
                timed.queries.codes,
                timed.database.codes,
                compared[split.query],
                compared[split.database],
                affinity=affinity,
                n_bits=timed.queries.n_bits,
                keep_codes=self._configured.measure.needs_codes,
                n_jobs=1,
            )
            self.values.append(np.asarray(histogram.measure(self._configured), dtype=float))
        self.expected_seconds = time.perf_counter() - began
        self._times.append((timed.fit_seconds, timed.encode_microseconds))

    def describe_last(self) -> str:
        """Score and training time of the last run."""
        return f"{np.nanmean(self.values[-1]):.3f}, trained in {self._times[-1][0]:.2g} s"

    def trial(self, name: str) -> Trial:
        """All of them together."""
        fit_seconds, encode_microseconds = np.mean(self._times, axis=0)
        return Trial(name, self.values, float(fit_seconds), float(encode_microseconds))


def _names_in_time(
    trials: dict[str, _Runs],
    hashers: dict[str, Any],
    X: Any,
    y: Any,
    split: RetrievalSplit,
    affinity: Any,
    budget: TimeBudget,
) -> Iterator[str]:
    """Give the names whose runs are expected to end in time; if there is none, one all the same."""
    for name, hasher in hashers.items():
        if trials[name].is_expected_in_time(budget, hasher, X, y, split, affinity):
            yield name
    if not any(trials.values()):
        yield min(trials, key=lambda name: trials[name].expected_seconds)


def _check_options(n_bits, max_rows, n_splits, time_budget, random_state):
    wanted = {"n_bits": (n_bits, 1), "max_rows": (max_rows, 2), "n_splits": (n_splits, 1)}
    wanted["random_state"] = (random_state, 0)
    for name, (value, least) in wanted.items():
        if not is_int(value, least):
            raise ValueError(f"{name} must be an int >= {least}. Got {value!r}.")
    if time_budget is not None and not (is_real(time_budget) and time_budget > 0):
        raise ValueError(f"time_budget must be seconds above 0, or None. Got {time_budget!r}.")


def _judged_by(affinity: Any, X: Any, y: Any) -> BaseAffinity:
    """Return the affinity to judge by; without y the ten nearest rows, unless another is given."""
    if not is_auto(affinity):
        return affinity
    if y is not None:
        return auto_affinity(y)
    learned = affinity_to_learn_from(affinity, X, None)  # knows which distance suits the rows
    return NeighborAffinity(min(_NEIGHBORS, X.shape[0] // 5), metric=learned.metric)


def _situation(y: Any, is_graded: bool, new_classes: bool) -> str:
    if new_classes:
        if y is None:
            raise ValueError("new_classes=True needs class labels or label paths. Got y=None.")
        return "new classes"
    if y is None:
        return "no labels"
    return "grades" if is_graded else "classes"


def _measure(measure: Any, y: Any, is_graded: bool) -> tuple[str, ConfiguredMeasure]:
    """Return the measure that decides, and what tables call it."""
    if measure is None:
        measure = f"recall@{_NEIGHBORS}" if y is None else "ndcg" if is_graded else "ap"
    named = name_measures(measure)
    if len(named) != 1:
        raise ValueError(f"measure must be one measure. Got {', '.join(named)}.")
    [configured] = named.values()
    return columns_of(named)[0].title, configured


def _spaced(
    order: np.ndarray, n: int, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """`n` evenly spaced elements, and the others: of sorted rows a fair share of each class."""
    n = min(n, len(order))
    places = ((np.arange(n) + random_state.uniform()) * (len(order) / max(n, 1))).astype(int)
    is_taken = np.zeros(len(order), dtype=bool)
    is_taken[places] = True
    return order[is_taken], order[~is_taken]


def _sample(X: Any, y: Any, groups: Any, max_rows: int, seed: int) -> RetrievalSplit:
    """Queries, training rows, and a database of these and others, in proportion to the classes."""
    random_state = check_random_state(seed)
    order = random_state.permutation(X.shape[0])
    if groups is not None:
        order = order[np.argsort(groups[order], kind="stable")]
    n_queries = min(_MOST_QUERIES, max(1, round(_SHARE_OF_QUERIES * len(order))))
    query, others = _spaced(order, n_queries, random_state)
    train, others = _spaced(others, max_rows, random_state)
    more, _ = _spaced(others, max_rows, random_state)
    database = random_state.permutation(np.concatenate([train, more]))
    return RetrievalSplit(random_state.permutation(train), query, database)


def _sample_new_classes(X: Any, y: Any, groups: Any, max_rows: int, seed: int) -> RetrievalSplit:
    """Training rows of two thirds of the classes; queries and database of the others."""
    rows = np.arange(X.shape[0])
    if groups is not None:
        sizes = np.bincount(groups)
        rows = np.flatnonzero(sizes[groups] >= _FEWEST_OF_A_NEW_CLASS)
    if not rows.size:
        raise ValueError(
            f"new_classes=True needs classes of at least {_FEWEST_OF_A_NEW_CLASS} rows. "
            "Got none of so many."
        )
    sizes = np.bincount(np.unique(groups[rows], return_inverse=True)[1])
    n_queries = max(1, min(sizes.min() // 3, 3 * _MOST_QUERIES // len(sizes)))
    protocol = UnseenClassesSplit(n_queries=int(n_queries), random_state=seed)
    train, query, database = next(protocol.split(X, y[rows]))
    return RetrievalSplit(rows[train[:max_rows]], rows[query], rows[database[:max_rows]])


def _candidates(situation: str, groups: Any) -> list[str]:
    suited = {name: method.suits for name, method in METHODS.items()}
    names = [name + suits[situation] for name, suits in suited.items() if situation in suits]
    has_few = situation == "classes" and groups is not None and groups.max() < _FEW_CLASSES
    names.sort(key=_LAST.__contains__)
    return [*names, *(_OF_FEW_CLASSES if has_few else ())]


def _without_refused(
    hashers: dict[str, Any], X: Any, y: Any, split: RetrievalSplit
) -> tuple[dict[str, Any], dict[str, str]]:
    """Hashers that can take the training rows, and why others cannot."""
    y_train = None if y is None else y[split.train]
    runs = [Run(name, hasher, 0, 0, None) for name, hasher in hashers.items()]
    refusals = find_refusals(runs, X[split.train], y_train)
    if len(refusals) == len(hashers):
        raise ValueError(
            f"no candidate can take these data. {' '.join(describe_refusals(refusals))}"
        )
    left_out = {name: message for (name, _), message in refusals.items()}
    return {name: hasher for name, hasher in hashers.items() if name not in left_out}, left_out


def _not_tried(candidates: list[str], y: Any) -> dict[str, list[str]]:
    """Names of all other methods, by the reason why they are no candidates."""
    tried = {name.partition(":")[0] for name in candidates}
    reasons: dict[str, list[str]] = {}
    for name, method in METHODS.items():
        if name not in tried:
            reasons.setdefault(_why_not(method, y), []).append(name)
    return reasons


def _why_not(method: Method, y: Any) -> str:
    if method.remark:
        return method.remark
    if method.group == "deep":
        return "networks take longer, and torch"
    if method.needs_y and y is None:
        return "learns from labels"
    return "behind those above on most data sets of the user guide"


def _describe_sample(split: RetrievalSplit, n_rows: int, n_splits: int, n_bits: int) -> str:
    train, query, database = map(len, split)
    splits = "1 split" if n_splits == 1 else f"{n_splits} splits"
    text = (
        f"{n_bits} bits, {splits} of {n_rows:,} rows: {train:,} training rows, {query:,} queries, "
        f"{database:,} database rows"
    )
    if n_rows > 2 * train:
        text += "; with more training rows the order of the methods may be another"
    return text
