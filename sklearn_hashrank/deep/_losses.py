"""Losses of the scores of a batch, for any network and any training loop."""

from functools import cache
from typing import Any

import numpy as np
import torch
from sklearn.utils._param_validation import InvalidParameterError

from ..affinity._auto import is_auto
from ..affinity._coercion import as_array
from ..affinity._labels import HierarchicalAffinity, LabelAffinity
from ..affinity._protocol import BaseAffinity
from ..objectives._objective_checks import SIGNATURE, CheckedObjective
from ..objectives._objective_names import LIKELIHOODS, RANKING, ZONES, find_objective
from ..objectives._prefixes import Prefixes, check_prefixes
from ._numpy_autograd import minus_objective
from ._relevance import BatchAffinity, is_precomputed, level_indices


class BatchLoss(torch.nn.Module):
    """Minus an objective of the scores and the relevance of a batch."""

    def __init__(self, objective: Any, affinity: Any, prefixes: Any = None):
        super().__init__()
        if not (
            is_auto(affinity) or is_precomputed(affinity) or isinstance(affinity, BaseAffinity)
        ):
            raise InvalidParameterError(
                "affinity must be 'auto', 'precomputed' or an affinity object such as "
                f"LabelAffinity(). Got {affinity!r} instead."
            )
        if prefixes is not None:
            objective = Prefixes(objective, check_prefixes(prefixes))
        self.checked_objective = CheckedObjective(objective)
        self.affinity = affinity
        self._batch_affinity = BatchAffinity(affinity)

    @property
    def objective(self) -> Any:
        """The objective, with its parameters; a copy of one that anneals."""
        return self.checked_objective.objective

    def anneal(self, progress: float) -> None:
        """Tell the objective how much of the training is done, as steepness may depend on it.

        Call it before each pass or each step. An objective that does not change is not changed.

        Parameters
        ----------
        progress : float
            Share of the training that is done, from 0 to 1.
        """
        if not 0 <= progress <= 1:
            raise ValueError(f"progress must be within 0 and 1. Got {progress!r}.")
        self.checked_objective.anneal(progress)

    @torch.compiler.disable  # its kernels work on arrays
    def forward(self, scores: torch.Tensor, y: Any) -> torch.Tensor:
        """Return minus the objective of a batch, to be minimized.

        Parameters
        ----------
        scores : Tensor of shape (M, n_bits)
            What the network gives, M rows that are ranked by one another.
        y : Tensor, array-like or sparse matrix with M rows
            What the affinity compares: labels, label sets, label paths or vectors. Or, with
            ``affinity="precomputed"``, levels of relevance of shape (M, M), at least 0; row q
            says how relevant the items are to query q.

        Returns
        -------
        loss : Tensor
            A scalar in the precision of the scores.
        """
        if not torch.is_tensor(scores) or scores.ndim != 2 or not scores.is_floating_point():
            shape = f" of shape {tuple(scores.shape)}" if hasattr(scores, "shape") else ""
            kind = getattr(scores, "dtype", type(scores).__name__)
            raise ValueError(
                "scores must be a tensor of floats of shape (n_rows, n_bits). "
                f"Got {kind}{shape} instead."
            )
        if not scores.numel():
            raise ValueError(
                f"scores must have at least one row and one bit. Got shape {tuple(scores.shape)}."
            )
        y = as_array(y)
        if not y.shape or y.shape[0] != len(scores):
            raise ValueError(
                f"y must have one row for each of the {len(scores)} rows of scores. "
                f"Got shape {y.shape}."
            )
        if is_auto(self.affinity):
            richest = _affinity_with_most_levels(y.shape[1] if y.ndim == 2 else 1)
            self.checked_objective.check_affinity(richest, guessed=True)
        affinity = self._batch_affinity.of(y)
        level, levels = level_indices(affinity, y, len(scores))
        return minus_objective(lambda s: self.checked_objective(s, level, levels), scores)

    def extra_repr(self) -> str:
        """Return what ``print`` shows."""
        return f"{self.objective!r}, affinity={self.affinity!r}"


class TieAwareLoss(BatchLoss):
    """Minus a smooth version of a tie-aware ranking measure, in which each row queries the others.

    The loss relaxes the scores to codes ``tanh(alpha * scores)``, counts their distances in soft
    histograms, and computes the tie-aware measure from these counts [1]_. After training, the code
    bit is ``scores > 0``. A batch should hold several relevant items for each row.

    Parameters
    ----------
    objective : {"ap", "ndcg", "mi"} or object, default="ap"
        Average precision and mutual information, for which relevant means level > 0, or NDCG,
        which uses all relevance levels. A name stands for the default parameters. Pass an object of
        :mod:`sklearn_hashrank.objectives` for others, as in
        ``TieAwareLoss(AveragePrecision(alpha=1.0, alpha_end=4.0))``.
    prefixes : tuple of int, default=None
        Numbers of first bits. The loss is the mean of the losses of these prefixes of the scores,
        so that the first bits of a long code are a good short code; include the number of all bits.
        See :ref:`prefix_codes`. None: all bits only.
    affinity : {"auto", "precomputed"} or affinity object, default="auto"
        How `y` says what is relevant; see :mod:`sklearn_hashrank.affinity`. An affinity that is not
        fitted is fitted on each batch, which makes a difference where levels come from distances:
        fit such an affinity on the training rows. With ``"precomputed"``, `y` is the matrix of
        relevance levels of a batch itself. With ``"auto"``, the first batch says what a `y` of
        several columns is: label sets where it holds only 0 and 1, of whatever dtype. A later batch
        that contradicts is refused.

    Attributes
    ----------
    objective : object
        The objective, with its parameters.

    Notes
    -----
    Compiled kernels evaluate the objective on the CPU. Scores on another device are copied to the
    host, and their gradient back. Scores in half precision are evaluated in float32. Only first
    derivatives exist, and ``torch.compile`` splits the graph at the loss.

    References
    ----------
    .. [1] K. He, F. Cakir, S. A. Bargal, S. Sclaroff, "Hashing as tie-aware learning to rank",
       CVPR 2018.

    Examples
    --------
    >>> import torch
    >>> from sklearn_hashrank.deep import TieAwareLoss
    >>> y = torch.tensor([0, 0, 1, 1])
    >>> scores = torch.tensor([[3.0, 3.0], [3.0, 3.0], [-3.0, -3.0], [-3.0, -3.0]])
    >>> loss = TieAwareLoss("ap")
    >>> loss(scores, y)
    tensor(-1.)
    >>> loss(scores[[0, 2, 1, 3]], y)  # the only relevant item is between the two others
    tensor(-0.4000)
    """

    def __init__(
        self,
        objective: Any = "ap",
        *,
        prefixes: Any = None,
        affinity: Any = "auto",
    ):
        super().__init__(_find("TieAwareLoss", objective, RANKING), affinity, prefixes)


class PairwiseLoss(BatchLoss):
    """The loss of the pairs, or the triplets, of a batch.

    The scores themselves are the relaxed codes, but for HashNet. After training, the code bit is
    ``scores > 0``.

    Parameters
    ----------
    objective : str or object, default="dsh"
        ``"dsh"``, ``"dispersed"``, ``"hierarchical"`` and ``"nested"`` are zones of distances;
        ``"dpsh"`` and ``"hashnet"`` likelihoods of pairs; ``"dtsh"`` is one of triplets. A name
        stands for the default parameters. Pass an object for others, as in
        ``PairwiseLoss(Dispersed(zone=(1 / 12, 1 / 6)))``: one of
        :mod:`sklearn_hashrank.objectives`, or any with ``value_and_gradient(scores, level,
        levels)``. The two with superclasses want label paths.
    prefixes : tuple of int, default=None
        Numbers of first bits. The loss is the mean of the losses of these prefixes of the scores,
        so that the first bits of a long code are a good short code; include the number of all bits.
        See :ref:`prefix_codes`. None: all bits only.
    affinity : {"auto", "precomputed"} or affinity object, default="auto"
        How `y` says what is relevant; see :mod:`sklearn_hashrank.affinity`. An affinity that is not
        fitted is fitted on each batch, which makes a difference where levels come from distances:
        fit such an affinity on the training rows. With ``"precomputed"``, `y` is the matrix of
        relevance levels of a batch itself. With ``"auto"``, the first batch says what a `y` of
        several columns is: label sets where it holds only 0 and 1, of whatever dtype. A later batch
        that contradicts is refused.

    Attributes
    ----------
    objective : object
        The objective, with its parameters. Call :meth:`anneal` to raise the steepness of HashNet
        during training.

    Notes
    -----
    Compiled kernels evaluate the objective on the CPU. Scores on another device are copied to the
    host, and their gradient back. Scores in half precision are evaluated in float32. Only first
    derivatives exist, and ``torch.compile`` splits the graph at the loss.

    References
    ----------
    .. [1] H. Liu, R. Wang, S. Shan, X. Chen, "Deep supervised hashing for fast image retrieval",
       CVPR 2016.
    .. [2] P. L. K. Ding, Y. Li, B. Li, "Mean local group average precision (mLGAP): a new
       performance metric for hashing-based retrieval", 2018.

    Examples
    --------
    >>> import torch
    >>> from sklearn_hashrank.deep import PairwiseLoss
    >>> from sklearn_hashrank.objectives import DSH
    >>> y = torch.tensor([0, 0, 1])
    >>> scores = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    >>> PairwiseLoss("dsh")(scores, y)  # one pair of a class at the squared distance 4
    tensor(0.6667)
    >>> PairwiseLoss(DSH(margin=3.0))(scores, y)  # another pair within the margin of 6
    tensor(1.)
    """

    def __init__(
        self,
        objective: Any = "dsh",
        *,
        prefixes: Any = None,
        affinity: Any = "auto",
    ):
        super().__init__(
            _find("PairwiseLoss", objective, {**ZONES, **LIKELIHOODS}), affinity, prefixes
        )


def _find(owner, objective, names):
    if isinstance(objective, str) and objective not in names:
        known = ", ".join(map(repr, sorted(names)))
        raise InvalidParameterError(
            f"The 'objective' parameter of {owner} must be a str among {{{known}}} or an "
            f"object with {SIGNATURE}. Got {objective!r} instead."
        )
    return find_objective(objective)


@cache
def _affinity_with_most_levels(n_columns):
    """Return that of those that ``"auto"`` may choose for a batch of so many columns of `y`."""
    if n_columns < 2:
        return LabelAffinity().fit(np.zeros(1, dtype=int))
    return HierarchicalAffinity().fit(np.zeros((1, n_columns), dtype=int))
