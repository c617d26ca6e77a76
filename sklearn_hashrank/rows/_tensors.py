"""Tensors of other libraries as arrays of numpy."""

import sys
from typing import Any

import numpy as np


def is_tensor(array: Any) -> bool:
    """Whether `array` is a tensor of torch, which is never imported for this."""
    module = sys.modules.get("torch")
    return module is not None and bool(module.is_tensor(array))


def as_numpy(array: Any, name: str) -> np.ndarray:
    """Convert what a caller gives to an array of numpy.

    Parameters
    ----------
    array : array-like or tensor
        A tensor of torch may be on any device and part of a gradient. Others are read in place, by
        ``__array__`` or DLPack.
    name : str
        What messages call it.

    Returns
    -------
    array : ndarray
        Of float32 for bfloat16, which numpy does not have.
    """
    if type(array) is np.ndarray:
        return array
    if is_tensor(array):
        return _from_torch(array)
    try:
        if hasattr(array, "__dlpack__") and not hasattr(array, "__array__"):
            return np.from_dlpack(array)
        return np.asarray(array)
    except (TypeError, RuntimeError, BufferError) as error:
        raise TypeError(
            f"{name} cannot be read as an array of numpy: {error}. Copy the "
            f"{type(array).__name__} to the host first, as in array.get() with cupy."
        ) from error


def _from_torch(tensor: Any) -> np.ndarray:
    tensor = tensor.detach()
    if tensor.layout != sys.modules["torch"].strided:
        tensor = tensor.to_dense()
    if tensor.is_floating_point() and tensor.element_size() < 4:
        tensor = tensor.float()
    array: np.ndarray = tensor.cpu().numpy()
    return array
