"""Write a hasher as Python source that needs nothing but numpy."""

import base64
import textwrap
from typing import Any

import numpy as np

from ._folding import check_dtype, fold, least_length

_ENDINGS = {
    "bits": "return bits.astype(np.uint8)",
    "signs": "return np.where(bits, np.int8(1), np.int8(-1))",
    "packed": "return np.packbits(bits, axis=1)",
}

_LENGTHS = {
    "l1": "np.abs(rows).sum(axis=1, keepdims=True)",
    "l2": "np.sqrt((rows * rows).sum(axis=1, keepdims=True))",
    "max": "np.abs(rows).max(axis=1, keepdims=True)",
}

_SOURCE = '''\
"""Binary codes of {n_bits} bits for rows of {n_features} features; needs only numpy."""

import base64

import numpy as np


def _array(text, *shape):
    return np.frombuffer(base64.b64decode(text), dtype="{dtype}").reshape(shape)


{arrays}

def encode(X):
    """Codes ({output}) of an array of shape (n, {n_features})."""
    {body}
'''

_ARRAY = '''\
{name} = _array(
    """
{text}
    """,
    {shape},
)
'''


def to_numpy_source(estimator: Any, *, dtype: Any = np.float64) -> str:
    """Write a Python module that encodes rows and needs nothing but numpy.

    The text holds the hyperplanes and a function ``encode(X)``. It suits a service that must not
    depend on scikit-learn, and translates to other languages in a few lines.

    Parameters
    ----------
    estimator : estimator
        A fitted linear hasher, or a pipeline or search that ends in one; see :func:`to_onnx`.
    dtype : {numpy.float32, numpy.float64}, default=numpy.float64
        Type of the hyperplanes and of the arithmetic. The text takes some 11 bytes for each number
        in float64, and half of that in float32.

    Returns
    -------
    source : str
        Text of the module. ``encode`` gives what ``transform`` gives, in the hasher's `output`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank import LSHHasher
    >>> from sklearn_hashrank.interop import to_numpy_source
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> hasher = LSHHasher(16, output="packed", random_state=0).fit(X)
    >>> module = {}
    >>> exec(to_numpy_source(hasher), module)
    >>> bool((module["encode"](X) == hasher.transform(X)).all())
    True
    """
    dtype = check_dtype(dtype).newbyteorder("<")
    folded = fold(estimator)
    arrays = {}
    rows = f'np.asarray(X, dtype="{dtype.str}")'
    lines = [f"rows = {rows}"] if folded.normalizations else []
    for number, (affine, norm) in enumerate(folded.normalizations, 1):
        if affine is not None:
            arrays[f"_MATRIX_{number}"] = affine.components_.T
            arrays[f"_OFFSET_{number}"] = affine.intercept_
            lines.append(f"rows = rows @ _MATRIX_{number} + _OFFSET_{number}")
        lines.append(f"lengths = {_LENGTHS[norm]}")
        lines.append(f"rows = rows / np.where(lengths < {least_length(dtype)!r}, 1, lengths)")
    arrays |= {"_NORMALS": folded.hyperplanes.components_.T, "_INTERCEPT": folded.hyperplanes[1]}
    lines.append(f"bits = {'rows' if lines else rows} @ _NORMALS + _INTERCEPT > 0")
    lines.append(_ENDINGS[folded.output])
    return _SOURCE.format(
        n_bits=len(folded.hyperplanes.components_),
        n_features=folded.n_features,
        dtype=dtype.str,
        arrays="".join(
            _ARRAY.format(
                name=name,
                text=_text(array, dtype),
                shape=",\n    ".join(map(str, array.shape)),
            )
            for name, array in arrays.items()
        ),
        output=folded.output,
        body="\n    ".join(lines),
    )


def _text(array: np.ndarray, dtype: np.dtype) -> str:
    text = base64.b64encode(array.astype(dtype).tobytes()).decode("ascii")
    return textwrap.indent(textwrap.fill(text, 92), "    ")
