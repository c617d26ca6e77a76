"""The loss of a sentence encoder whose binary embeddings should rank well."""

import math
import warnings
from collections.abc import Iterable
from functools import cache
from typing import Any

import torch

from ..objectives._prefixes import Prefixes
from ._losses import TieAwareLoss

_CITATION = """
@inproceedings{he2018hashing,
    title={Hashing as Tie-Aware Learning to Rank},
    author={He, Kun and Cakir, Fatih and Bargal, Sarah Adel and Sclaroff, Stan},
    booktitle={Proceedings of the IEEE Conference on Computer Vision and Pattern Recognition},
    year={2018}
}
"""


class CodesLoss(torch.nn.Module):
    """Minus a tie-aware measure of the relaxed codes of a batch of texts.

    Rows of embeddings are brought to one length first, which changes no bit, so that steepness
    means the same for every model.

    Parameters
    ----------
    model : SentenceTransformer
        The model that is trained.
    loss : TieAwareLoss
        Of scores of about unit variance.
    n_bits : int
        Number of leading dimensions of an embedding that become bits.
    """

    def __init__(self, model: Any, loss: TieAwareLoss, n_bits: int):
        super().__init__()
        self.model, self.loss, self.n_bits = model, loss, n_bits
        objective = loss.objective
        objective = objective.objective if isinstance(objective, Prefixes) else objective
        self._is_told = getattr(objective, "alpha_end", None) is None

    def forward(
        self, sentence_features: Iterable[dict[str, torch.Tensor]], labels: Any = None
    ) -> torch.Tensor:
        """Return the loss of a batch; the trainer calls it.

        Parameters
        ----------
        sentence_features : list of dict of str to Tensor
            A batch of each column of texts, as the model takes it.
        labels : Tensor, default=None
            What the affinity compares, for a single column of texts.

        Returns
        -------
        loss : Tensor
        """
        embeddings = [self.model(each)["sentence_embedding"] for each in sentence_features]
        return self.compute_loss_from_embeddings(embeddings, labels)

    def compute_loss_from_embeddings(
        self, embeddings: list[torch.Tensor], labels: Any = None
    ) -> torch.Tensor:
        """Return the loss of the embeddings of a batch.

        Parameters
        ----------
        embeddings : list of Tensor of shape (n, n_features)
            One for each column of texts.
        labels : Tensor, default=None
            What the affinity compares, for a single column of texts.

        Returns
        -------
        loss : Tensor
        """
        if self.training and not self._is_told:
            self._is_told = True
            warnings.warn(
                "the steepness of the relaxed codes should grow during the training, and stays as "
                "it is. Pass callbacks=[loss.callback] to the trainer, call loss.anneal(progress) "
                "before each step, or set alpha_end=None.",
                stacklevel=2,
            )
        y = _relevance(embeddings, labels)
        scores = torch.cat(list(embeddings))[:, : self.n_bits]
        if scores.shape[1] < self.n_bits:
            raise ValueError(
                f"embeddings must have at least n_bits = {self.n_bits} numbers. "
                f"Got {scores.shape[1]}."
            )
        unit = torch.nn.functional.normalize(scores.float(), dim=1)
        return self.loss(unit * math.sqrt(self.n_bits), y)

    def anneal(self, progress: float) -> None:
        """Tell how much of the training is done, as steepness depends on it.

        Parameters
        ----------
        progress : float
            From 0 to 1.
        """
        self._is_told = True
        self.loss.anneal(progress)

    @property
    def callback(self) -> Any:
        """For `callbacks` of the trainer: tells the loss how much of the training is done."""
        from transformers import TrainerCallback

        return _callback_class(TrainerCallback)(self)

    def get_config_dict(self) -> dict[str, Any]:
        """Return what the card of a model says of the loss."""
        return {"objective": repr(self.loss.objective), "n_bits": self.n_bits}

    @property
    def citation(self) -> str:
        """The paper, for the card of a model."""
        return _CITATION


@cache
def _callback_class(base: type) -> type:
    class AnnealingCallback(base):
        """Tells a loss before each step how much of the training is done."""

        def __init__(self, loss: CodesLoss):
            self.loss = loss

        def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self.loss.anneal(min(1.0, state.global_step / max(1, state.max_steps - 1)))

    return AnnealingCallback


def _relevance(embeddings, labels):
    """What the affinity compares: labels, or the number of the texts that belong together.

    The first two columns belong together, row by row; texts of further columns are relevant to
    nothing.
    """
    n_rows = len(embeddings[0])
    if len(embeddings) == 1:
        if labels is None:
            raise ValueError(
                "a data set with one column of texts needs a column of labels. Got no labels."
            )
        return labels
    if labels is not None:
        raise ValueError(
            "labels go with one column of texts. A data set of several columns (anchor, positive, "
            f"negatives) has none. Got {len(embeddings)} columns and labels."
        )
    sizes = [len(each) for each in embeddings]
    if len(set(sizes)) > 1:
        raise ValueError(
            f"columns of texts that belong together must have equally many rows. Got {sizes}."
        )
    numbers = torch.arange(n_rows, device=embeddings[0].device)
    further = [numbers + i * n_rows for i in range(1, len(embeddings) - 1)]
    return torch.cat([numbers, numbers, *further])
