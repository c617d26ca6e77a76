"""Make a hasher the last module of a sentence-transformers model."""

from typing import Any

import numpy as np

from .._utils.extras import needed
from ..codes import packed_width
from ._folding import fold


def to_sentence_transformers(estimator: Any) -> Any:
    """Make a Dense module whose signs are the code. Needs sentence-transformers 6.

    Append it to a ``SentenceTransformer``. Then ``encode(texts, precision="ubinary")`` gives packed
    codes, ``precision="binary"`` the same bytes less 128, and ``precision="float32"`` the real
    projections. The module computes in float32; codes differ from ``transform`` only in rows that
    lie on a hyperplane within its rounding.

    Parameters
    ----------
    estimator : estimator
        A hasher that was fitted on embeddings of the model, or a pipeline or search that ends in
        one; see :func:`to_onnx`.

    Returns
    -------
    dense : sentence_transformers.sentence_transformer.modules.Dense
        Of ``8 * ceil(n_bits / 8)`` outputs; those beyond `n_bits` are always zero.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> from sentence_transformers.util import quantize_embeddings
    >>> from sklearn_hashrank import LSHHasher
    >>> from sklearn_hashrank.interop import to_sentence_transformers
    >>> X = np.random.default_rng(0).normal(size=(100, 8)).astype(np.float32)
    >>> hasher = LSHHasher(16, output="packed", random_state=0).fit(X)
    >>> dense = to_sentence_transformers(hasher)
    >>> out = dense({"sentence_embedding": torch.from_numpy(X)})["sentence_embedding"].detach()
    >>> bool((quantize_embeddings(out, "ubinary") == hasher.transform(X)).all())
    True
    """
    with needed('pip install "sentence-transformers>=6"'):
        import torch
        from sentence_transformers.sentence_transformer import modules
    (normals, intercept), _ = fold(estimator)
    n_bits, n_features = normals.shape
    n_outputs = 8 * packed_width(n_bits)
    n_pad = n_outputs - n_bits
    return modules.Dense(
        n_features,
        n_outputs,
        activation_function=torch.nn.Identity(),
        init_weight=torch.from_numpy(np.pad(normals, ((0, n_pad), (0, 0))).astype(np.float32)),
        init_bias=torch.from_numpy(np.pad(intercept, (0, n_pad)).astype(np.float32)),
    )
