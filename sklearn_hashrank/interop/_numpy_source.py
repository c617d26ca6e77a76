"""Write a hasher as Python source that needs nothing but numpy."""

import base64
import textwrap
from typing import Any

import numpy as np

from ._folding import check_dtype, fold

_ENDINGS = {
    "bits": "return bits.astype(np.uint8)",
    "signs": "return np.where(bits, np.int8(1), np.int8(-1))",
    "packed": "return np.packbits(bits, axis=1)",
}

_SOURCE = '''\
"""Binary codes of {n_bits} bits for rows of {n_features} features; needs only numpy."""

import base64

import numpy as np


def _array(text, *shape):
    return np.frombuffer(base64.b64decode(text), dtype="{dtype}").reshape(shape)


_NORMALS = _array(
    """
{normals}
    """,
    {n_features},
    {n_bits},
)
_INTERCEPT = _array(
    """
{intercept}
    """,
    {n_bits},
)


def encode(X):
    """Codes ({output}) of an array of shape (n, {n_features})."""
    bits = np.asarray(X, dtype="{dtype}") @ _NORMALS + _INTERCEPT > 0
    {ending}
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
    (normals, intercept), output = fold(estimator)
    n_bits, n_features = normals.shape
    return _SOURCE.format(
        n_bits=n_bits,
        n_features=n_features,
        dtype=dtype.str,
        normals=_text(normals.T, dtype),
        intercept=_text(intercept, dtype),
        output=output,
        ending=_ENDINGS[output],
    )


def _text(array: np.ndarray, dtype: np.dtype) -> str:
    text = base64.b64encode(array.astype(dtype).tobytes()).decode("ascii")
    return textwrap.indent(textwrap.fill(text, 92), "    ")
