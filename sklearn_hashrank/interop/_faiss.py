"""Convert codes to and from faiss indexes, and hashers to faiss indexes."""

from typing import Any

import numpy as np

from .._utils.extras import how_to_install, needed
from ..codes._formats import check_n_bits, packed_width, unpack_codes
from ._bit_strings import read_packed
from ._folding import fold


def to_faiss(codes: Any, n_bits: int | None = None, *, n_lists: int | None = None) -> Any:
    """Make a faiss index of codes. Needs the extra ``faiss``.

    Parameters
    ----------
    codes : array-like of shape (n, n_columns)
        Codes as bits, signs or packed bytes.
    n_bits : int, default=None
        Length of a code; needed for packed bytes.
    n_lists : int, default=None
        Number of inverted lists for approximate search, trained on the codes. None: all codes are
        scanned.

    Returns
    -------
    index : faiss.IndexBinaryFlat or faiss.IndexBinaryIVF
        Of ``8 * ceil(n_bits / 8)`` dimensions; distances are those of the codes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.interop import to_faiss
    >>> codes = np.eye(3, 8, dtype=np.uint8)
    >>> index = to_faiss(codes)
    >>> index.search(np.packbits(codes, axis=1), 2)[0]
    array([[0, 2],
           [0, 2],
           [0, 2]], dtype=int32)
    """
    faiss = _faiss()
    packed, n_bits = read_packed(codes, n_bits)
    dimension = 8 * packed_width(n_bits)
    index: Any = faiss.IndexBinaryFlat(dimension)
    if n_lists is not None:
        if not 1 <= n_lists <= len(packed):
            raise ValueError(f"n_lists must be in [1, {len(packed)}], the codes. Got {n_lists}.")
        index = faiss.IndexBinaryIVF(index, dimension, n_lists)
        index.train(packed)
    index.add(packed)
    return index


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
        both where rows are normalised. Distances are float32.

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
    faiss = _faiss()
    folded = fold(estimator)
    folded.check_norms("a faiss index")
    normals, intercept = folded.hyperplanes
    n_bits = len(normals)
    transforms = []
    for affine, _ in folded.normalizations:
        if affine is not None:
            transforms.append(_linear_transform(*affine))
        width = folded.n_features if affine is None else len(affine.components_)
        transforms.append(faiss.NormalizationTransform(width, 2.0))
    transforms.append(_linear_transform(-normals, -intercept))
    index = faiss.IndexLSH(n_bits, n_bits, False, False)  # neither rotation nor thresholds
    for transform in reversed(transforms):
        if isinstance(index, faiss.IndexPreTransform):
            index.prepend_transform(transform)
        else:
            index = faiss.IndexPreTransform(transform, index)
    return index


def _linear_transform(matrix: np.ndarray, offset: np.ndarray) -> Any:
    faiss = _faiss()
    transform = faiss.LinearTransform(matrix.shape[1], len(matrix), True)
    faiss.copy_array_to_vector(matrix.astype(np.float32).ravel(), transform.A)
    faiss.copy_array_to_vector(offset.astype(np.float32), transform.b)
    transform.is_trained = True
    return transform


def from_faiss(index: Any, n_bits: int | None = None, output: str = "packed") -> np.ndarray:
    """Read the codes of a faiss index. Needs the extra ``faiss``.

    Parameters
    ----------
    index : faiss.IndexBinaryFlat or faiss.IndexBinaryIVF
        With the ids 0, 1, ... that ``add`` gives.
    n_bits : int, default=None
        Length of a code; None: all bits of the index.
    output : {"packed", "bits", "signs"}, default="packed"
        Format of the codes: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.

    Returns
    -------
    codes : ndarray
        In order of id; see :func:`sklearn_hashrank.codes.unpack_codes`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.interop import from_faiss, to_faiss
    >>> codes = np.eye(3, 8, dtype=np.uint8)
    >>> from_faiss(to_faiss(codes), output="bits")
    array([[1, 0, 0, 0, 0, 0, 0, 0],
           [0, 1, 0, 0, 0, 0, 0, 0],
           [0, 0, 1, 0, 0, 0, 0, 0]], dtype=uint8)
    """
    faiss = _faiss()
    # What downcasting returns does not own the index, so that `index` has to live on.
    known: Any = index
    if isinstance(index, faiss.IndexBinary):
        known = faiss.downcast_IndexBinary(index)
    if not isinstance(known, (faiss.IndexBinaryFlat, faiss.IndexBinaryIVF)):
        raise TypeError(
            f"index must be an IndexBinaryFlat or IndexBinaryIVF. Got {type(known).__name__}."
        )
    if n_bits is not None and packed_width(check_n_bits(n_bits) or 1) != known.code_size:
        raise ValueError(f"n_bits={n_bits} does not go with an index of {known.d} bits.")
    is_flat = isinstance(known, faiss.IndexBinaryFlat)
    packed = _flat_codes(known) if is_flat else _codes_of_lists(known)
    return unpack_codes(packed, known.d if n_bits is None else n_bits, output)


def _faiss() -> Any:
    with needed(how_to_install("faiss")):
        import faiss
    return faiss


def _flat_codes(index: Any) -> np.ndarray:
    faiss = _faiss()

    return faiss.vector_to_array(index.xb).reshape(-1, index.code_size)


def _codes_of_lists(index: Any) -> np.ndarray:
    faiss = _faiss()

    packed = np.empty((index.ntotal, index.code_size), dtype=np.uint8)
    seen = np.zeros(index.ntotal, dtype=bool)
    lists = index.invlists
    for number in range(index.nlist):
        size = lists.list_size(number)
        if not size:
            continue
        ids = faiss.rev_swig_ptr(lists.get_ids(number), size)
        if ids.min() < 0 or ids.max() >= index.ntotal:
            break
        codes = faiss.rev_swig_ptr(lists.get_codes(number), size * index.code_size)
        packed[ids] = codes.reshape(size, -1)
        seen[ids] = True
    if not seen.all():
        raise ValueError(f"the ids of the index must be 0, ..., {index.ntotal - 1}, each once.")
    return packed
