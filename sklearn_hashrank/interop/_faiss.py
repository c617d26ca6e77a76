"""Convert hashers to faiss indexes."""

from typing import Any

import numpy as np

from .._utils.extras import how_to_install, needed
from ._folding import fold


def to_faiss_index(estimator: Any) -> Any:
    """Make an empty faiss index that takes floats and searches codes. Needs the extra ``faiss``.

    ``add`` and ``search`` of the index take rows of features, encode them, and compare codes by
    Hamming distance. The index can be written and read by faiss, and be used where nothing of this
    package is installed.

    faiss gives the bit 1 to a projection of zero, and this package gives it 0. The index therefore
    holds the negated hyperplanes: its codes are the complements, and their distances are the same.
    They are also little-endian, and computed in float32.

    Parameters
    ----------
    estimator : estimator
        A fitted linear hasher, or a pipeline or search that ends in one; see :func:`to_onnx`.

    Returns
    -------
    index : faiss.IndexPreTransform
        Trained and empty: a LinearTransform before an IndexLSH, and a NormalizationTransform before
        both where rows are normalized. Distances are float32.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank import LSHHasher
    >>> from sklearn_hashrank.interop import to_faiss_index
    >>> X = np.random.default_rng(0).normal(size=(100, 8)).astype(np.float32)
    >>> index = to_faiss_index(LSHHasher(16, random_state=0).fit(X))
    >>> index.add(X)
    >>> distances, ids = index.search(X[:2], 1)
    >>> ids.ravel(), distances.ravel()
    (array([0, 1]), array([0., 0.], dtype=float32))
    """
    with needed(how_to_install("faiss")):
        import faiss

    def affine(components, intercept):
        transform = faiss.LinearTransform(components.shape[1], len(components), True)
        faiss.copy_array_to_vector(components.astype(np.float32).ravel(), transform.A)
        faiss.copy_array_to_vector(intercept.astype(np.float32), transform.b)
        transform.is_trained = True
        return transform

    folded = fold(estimator)
    folded.check_norms("a faiss index")
    normals, intercept = folded.hyperplanes
    n_bits = len(normals)
    transforms, width = [], folded.n_features
    for before, _ in folded.normalizations:
        if before is not None:
            transforms.append(affine(*before))
            width = len(before.components_)
        transforms.append(faiss.NormalizationTransform(width, 2.0))
    transforms.append(affine(-normals, -intercept))
    index: Any = faiss.IndexLSH(n_bits, n_bits, False, False)  # neither rotation nor thresholds
    for transform in reversed(transforms):
        if isinstance(index, faiss.IndexPreTransform):
            index.prepend_transform(transform)
        else:
            index = faiss.IndexPreTransform(transform, index)
    return index
