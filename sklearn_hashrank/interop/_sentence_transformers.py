"""Make a hasher the end of a sentence-transformers model, and train such models for codes."""

from typing import Any

import numpy as np

from .._utils.extras import needed
from .._utils.parameters import is_int
from ..codes._formats import packed_width
from ..objectives._objective_names import RANKING
from ..objectives._prefixes import check_prefixes
from ._folding import fold

_LAST_STEEPNESS = 4.0  # twice the first, from which codes follow their relaxation closely


def to_sentence_transformers(estimator: Any) -> list[Any]:
    """Make modules whose signs are the code. Needs sentence-transformers 6.

    Append them to a ``SentenceTransformer`` by ``model.extend(...)``. Then ``encode(texts,
    precision="ubinary")`` gives packed codes, ``precision="binary"`` the same bytes less 128, and
    ``precision="float32"`` the real projections. The modules compute in float32; codes differ from
    ``transform`` only in rows that lie on a hyperplane within its rounding.

    Parameters
    ----------
    estimator : estimator
        A hasher that was fitted on embeddings of the model, or a pipeline or search that ends in
        one; see :func:`to_onnx`.

    Returns
    -------
    modules : list of Module of ``sentence_transformers.sentence_transformer.modules``
        A Dense module, of ``8 * ceil(n_bits / 8)`` outputs; those beyond `n_bits` are always zero.
        Where the pipeline normalizes rows, Normalize and, if need be, another Dense before it.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> from sentence_transformers.util import quantize_embeddings
    >>> from sklearn_hashrank import LSHHasher
    >>> from sklearn_hashrank.interop import to_sentence_transformers
    >>> X = np.random.default_rng(0).normal(size=(100, 8)).astype(np.float32)
    >>> hasher = LSHHasher(16, output="packed", random_state=0).fit(X)
    >>> [dense] = to_sentence_transformers(hasher)
    >>> out = dense({"sentence_embedding": torch.from_numpy(X)})["sentence_embedding"].detach()
    >>> bool((quantize_embeddings(out, "ubinary") == hasher.transform(X)).all())
    True
    """
    with needed('pip install "sentence-transformers>=6"'):
        import torch
        from sentence_transformers.sentence_transformer import modules

    def dense(normals, intercept):
        return modules.Dense(
            normals.shape[1],
            len(normals),
            activation_function=torch.nn.Identity(),
            init_weight=torch.from_numpy(normals.astype(np.float32)),
            init_bias=torch.from_numpy(intercept.astype(np.float32)),
        )

    folded = fold(estimator)
    folded.check_norms("sentence-transformers")
    found = []
    for affine, _ in folded.normalizations:
        if affine is not None:
            found.append(dense(*affine))
        found.append(modules.Normalize())
    normals, intercept = folded.hyperplanes
    n_pad = 8 * packed_width(len(normals)) - len(normals)
    return [*found, dense(np.pad(normals, ((0, n_pad), (0, 0))), np.pad(intercept, (0, n_pad)))]


def sentence_transformers_loss(
    model: Any,
    objective: Any = "ap",
    n_bits: int | None = None,
    prefixes: Any = None,
    *,
    affinity: Any = "auto",
) -> Any:
    """Make a loss that trains a model so that its binary embeddings rank well.

    The loss is :class:`~sklearn_hashrank.deep.TieAwareLoss` of the embeddings of a batch, in which
    each text queries the others. Bits are the signs of the numbers of an embedding, so that after
    the training ``model.encode(texts, precision="ubinary")`` gives the codes, packed, and
    ``precision="binary"`` the same bytes less 128. Needs sentence-transformers 6 and its trainer:
    ``pip install "sentence-transformers[train]"``.

    Parameters
    ----------
    model : SentenceTransformer
        The model that is trained. Its last module must not be one that gives numbers of one sign
        only, as a ReLU. For codes of another length than the embeddings have, train first, then
        append the modules of :func:`to_sentence_transformers`.
    objective : {"ap", "ndcg", "mi"} or object, default="ap"
        What is maximized. The steepness of a named objective grows from 2 to 4 while the trainer
        calls ``callbacks=[loss.callback]``, for embeddings whose numbers have a mean square of 1;
        rows are scaled to that. An object of :mod:`sklearn_hashrank.objectives` has its own `alpha`
        and `alpha_end`.
    n_bits : int, default=None
        Numbers of an embedding that become bits, the first ones: encode with
        ``truncate_dim=n_bits``. None: all.
    prefixes : tuple of int, default=None
        Numbers of first bits. The loss is the mean of the losses of these prefixes, so that the
        first bits of a code are a good short code; include the number of all bits. Encode with
        ``truncate_dim`` for a short code. None: all bits only.
    affinity : "auto" or affinity object, default="auto"
        How labels say what is relevant; see :mod:`sklearn_hashrank.affinity`.

    Returns
    -------
    loss : Module
        For `loss` of ``SentenceTransformerTrainer``. A data set has a column of texts and a column
        of labels: classes, label paths or label sets. Or it has two columns of texts that belong
        together, row by row, and possibly further columns of texts that are relevant to nothing.
        ``loss.callback`` is for `callbacks` of the trainer; in a loop of your own call
        ``loss.anneal(progress)``.

    Notes
    -----
    Batches should hold several texts of a class: pass ``batch_sampler="group_by_label"`` to the
    arguments of the trainer, and for columns that belong together ``"no_duplicates"``.

    Examples
    --------
    The loss of embeddings that are given, whose codes rank perfectly:

    >>> import torch
    >>> from sklearn_hashrank.interop import sentence_transformers_loss
    >>> from sklearn_hashrank.objectives import AveragePrecision
    >>> class Model(torch.nn.Module):  # has what the loss asks of a SentenceTransformer
    ...     def forward(self, features):
    ...         return {"sentence_embedding": features["numbers"]}
    ...     def get_embedding_dimension(self):
    ...         return 2
    >>> loss = sentence_transformers_loss(Model(), AveragePrecision(alpha=50.0))
    >>> numbers = torch.tensor([[0.6, 0.8], [0.8, 0.6], [-0.6, 0.8], [-0.8, 0.6]])
    >>> loss([{"numbers": numbers}], torch.tensor([0, 0, 1, 1]))
    tensor(-1.)
    """
    from ..deep._codes_loss import CodesLoss
    from ..deep._losses import TieAwareLoss

    if not hasattr(model, "get_embedding_dimension"):
        raise ValueError(
            f"model must be a SentenceTransformer, whose embeddings are learned. Got {model!r}."
        )
    width = model.get_embedding_dimension()
    if n_bits is None:
        n_bits = width
    if not is_int(n_bits, 1) or (width is not None and n_bits > width):
        raise ValueError(
            f"n_bits must be an int from 1 to {width}, the numbers of an embedding. Got {n_bits!r}."
        )
    if prefixes is not None:
        check_prefixes(prefixes, n_bits)
    if isinstance(objective, str) and objective in RANKING:
        objective = RANKING[objective](alpha_end=_LAST_STEEPNESS)
    loss = TieAwareLoss(objective, prefixes=prefixes, affinity=affinity)
    return CodesLoss(model, loss, n_bits)
