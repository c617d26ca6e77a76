"""What :func:`suggest` finds: the trials of the candidates, the choice, and both as text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..affinity._auto import is_auto
from ..metrics._paired_tests import holm_correction, paired_test

_SIGNIFICANT = 0.05
_MUCH_FASTER = 2  # times of single runs vary by less


@dataclass(frozen=True)
class Trial:
    """What a candidate did on held-out queries.

    Parameters
    ----------
    method : str
        Name in `METHODS`, with parameters.
    values : list of ndarray
        Of each split, the measure of each query; NaN where nothing is relevant.
    fit_seconds, encode_microseconds : float
        Mean time to train, and to encode a row, on one thread.

    Examples
    --------
    >>> from sklearn_hashrank.comparison import Trial
    >>> trial = Trial("itq", [[0.5, 0.7], [0.8, 0.6]], 0.01, 0.5)
    >>> round(trial.mean, 2), round(trial.spread, 3)
    (0.65, 0.071)
    """

    method: str
    values: Sequence[Any]
    fit_seconds: float
    encode_microseconds: float

    @property
    def means(self) -> np.ndarray:
        """Mean of each split."""
        return np.array([np.nanmean(values) for values in self.values])

    @property
    def mean(self) -> float:
        """Mean over the splits."""
        return float(self.means.mean())

    @property
    def spread(self) -> float:
        """Standard deviation over the splits; NaN of a single one."""
        return float(self.means.std(ddof=1)) if len(self.values) > 1 else float("nan")


@dataclass(frozen=True)
class Rival:
    """How a candidate differs from the best.

    Parameters
    ----------
    difference : float
        Mean of the best less that of this one, over the splits that both have.
    p_value : float
        Of a paired test over all their queries, corrected by Holm's method for the number of
        candidates.
    is_behind : bool
        Whether that is below .05, and this one behind in every split: neither the choice of the
        queries nor that of the training rows explains it.

    Examples
    --------
    >>> from sklearn_hashrank.comparison import Rival
    >>> Rival(difference=0.002, p_value=0.4, is_behind=False).is_behind
    False
    """

    difference: float
    p_value: float
    is_behind: bool


def compare_with_best(trials: Sequence[Trial], best: Trial) -> dict[str, Rival]:
    """Compare every trial but the best with the best."""
    others = [trial for trial in trials if trial is not best]
    differences = []
    for trial in others:
        splits = zip(best.values, trial.values, strict=False)  # those that both have
        differences.append([np.asarray(a) - np.asarray(b) for a, b in splits])
    p_values = [_p_value(np.concatenate(parts)) for parts in differences]
    corrected = holm_correction(p_values) if others else np.empty(0)
    rivals = {}
    for trial, parts, p_value in zip(others, differences, corrected, strict=True):
        of_splits = [float(np.nanmean(part)) for part in parts]
        is_behind = bool(p_value < _SIGNIFICANT) and min(of_splits) > 0
        rivals[trial.method] = Rival(float(np.mean(of_splits)), float(p_value), is_behind)
    return rivals


def _p_value(differences: np.ndarray) -> float:
    known = differences[~np.isnan(differences)]
    if len(known) < 2:
        return 1.0
    return paired_test(known, np.zeros_like(known), method="student").pvalue


def choose(trials: Sequence[Trial]) -> tuple[Trial, Trial, dict[str, Rival]]:
    """Return the trial to take, the best one, and how the others differ from the best.

    Of those that cannot be told from the best, the fastest to encode is taken where it is at least
    twice as fast.
    """
    best = max(trials, key=lambda trial: trial.mean)
    rivals = compare_with_best(trials, best)
    equal = [best] + [t for t in trials if t is not best and not rivals[t.method].is_behind]
    fastest = min(equal, key=lambda trial: trial.encode_microseconds)
    is_much_faster = _MUCH_FASTER * fastest.encode_microseconds <= best.encode_microseconds
    return (fastest if is_much_faster else best), best, rivals


@dataclass(frozen=True)
class Suggestion:
    """Which method :func:`suggest` would take, and all it rests on. Print it to read it.

    Parameters
    ----------
    hasher : BaseHasher
        What to take, with `n_bits` and `random_state` set, not fitted.
    trials : list of Trial
        The candidates that were tried, the best mean first.
    left_out : dict of str to str
        Candidates that were not tried, and why.
    not_tried : dict of str to list of str
        The other methods, by the reason why they are no candidates.
    about : dict of str to str
        What was compared, and how.
    measure : str
        What is measured, as tables call it.
    n_bits : int
        Length of the codes.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank.comparison import suggest
    >>> X, y = load_digits(return_X_y=True)
    >>> found = suggest(X, y, n_bits=16, methods=["lsh", "rsh"], max_rows=400)
    >>> found.method, found.rivals["lsh"].is_behind
    ('rsh', True)
    """

    hasher: Any
    trials: Sequence[Trial]
    left_out: Mapping[str, str]
    not_tried: Mapping[str, Sequence[str]]
    about: Mapping[str, str]
    measure: str
    n_bits: int
    rivals: Mapping[str, Rival] = field(init=False)
    method: str = field(init=False)
    reason: str = field(init=False)

    def __post_init__(self):
        taken, best, rivals = choose(self.trials)
        object.__setattr__(self, "rivals", rivals)
        object.__setattr__(self, "method", taken.method)
        reason = _reason(taken, best, self.trials, rivals, self.measure)
        if self.left_out:
            reason += f" Not compared, see below: {', '.join(self.left_out)}."
        object.__setattr__(self, "reason", reason)

    def __str__(self) -> str:
        """Return the choice, its reason, the numbers, and what was not tried."""
        lines = [f"Take {self.method}: {self.reason}", "", *self._table(), ""]
        lines += [f"{what}: {text}" for what, text in self.about.items()]
        lines += [f"left out: {name}: {why}" for name, why in self.left_out.items()]
        lines += [f"not tried, {why}: {', '.join(names)}" for why, names in self.not_tried.items()]
        settings = f"n_bits={self.n_bits}"
        affinity = self.hasher.get_params().get("affinity", "auto")
        if not is_auto(affinity):
            settings += f", affinity={affinity!r}"
        hasher = f"method_from_name({self.method!r}).set_params({settings})"
        lines.append(f"in Python: hasher = {hasher}.fit(X, y)")
        return "\n".join(lines)

    def _table(self) -> list[str]:
        heads = ["method", self.measure, "spread", "behind by", "p", "training, s", "encoding, µs"]
        rows = [heads]
        for trial in self.trials:
            rival = self.rivals.get(trial.method)
            against = ["", ""]
            if rival is not None:
                against = [f"{rival.difference:.3f}", f"{rival.p_value:.2g}"]
            times = [f"{time:.2g}" for time in (trial.fit_seconds, trial.encode_microseconds)]
            spread = "" if np.isnan(trial.spread) else f"{trial.spread:.3f}"
            rows.append([trial.method, f"{trial.mean:.3f}", spread, *against, *times])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for name, *numbers in rows:
            cells = [number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)]
            lines.append("  ".join([name.ljust(widths[0]), *cells]).rstrip())
        return lines


def _reason(
    taken: Trial, best: Trial, trials: Sequence[Trial], rivals: Mapping[str, Rival], measure: str
) -> str:
    if len(trials) == 1:
        return f"it is the only method that was tried; {measure} {best.mean:.3f}."
    if taken is not best:
        rival = rivals[taken.method]
        faster = best.encode_microseconds / taken.encode_microseconds
        return (
            f"it encodes {faster:.0f} times as fast as {best.method}, whose {measure} of "
            f"{best.mean:.3f} is the highest, and is behind it by no more than chance explains "
            f"({rival.difference:.3f}, p = {rival.p_value:.2g})."
        )
    second = max((t for t in trials if t is not best), key=lambda trial: trial.mean)
    rival = rivals[second.method]
    text = (
        f"its {measure} of {best.mean:.3f} is the highest, {rival.difference:.3f} above "
        f"{second.method} (p = {rival.p_value:.2g})"
    )
    equal = [name for name, each in rivals.items() if not each.is_behind]
    if not equal:
        is_one = min(len(trial.values) for trial in trials) == 1
        return f"{text}, and above all others in {'one' if is_one else 'every'} split."
    return f"{text}. Chance may explain that it is above {', '.join(equal)}."
