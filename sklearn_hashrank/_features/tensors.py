"""Tensors of other libraries as arrays of numpy."""

import sys
from typing import Any

import numpy as np


def is_tensor(array: Any) -> bool:
    """Whether `array` is a tensor of torch, which is never imported for this."""
    module = sys.modules.get("torch")
    return module is not None and bool(module.is_tensor(array))


def as_host_array(array: Any, name: str) -> Any:
    """Convert an array of another library to one of numpy, and leave everything else as it is.

    Tensors, and arrays that offer DLPack, as those of the array API do, are converted. Messages
    call it by `name`.
    """
    is_foreign = hasattr(type(array), "__dlpack__") and not isinstance(array, np.ndarray)
    return as_numpy(array, name) if is_foreign or is_tensor(array) else array


def as_numpy(array: Any, name: str) -> np.ndarray:
    """Convert what a caller gives to an array of numpy; messages call it by `name`.

    A tensor of torch may be on any device and part of a gradient; bfloat16, which numpy does not
    have, becomes float32. Others are read in place, by ``__array__`` or DLPack.
    """
    if type(array) is np.ndarray:
        return array
    if is_tensor(array):
        return _from_torch(array, name)
    try:
        if hasattr(array, "__dlpack__") and not hasattr(array, "__array__"):
            return np.from_dlpack(array)
        found = np.asarray(array)
    except (TypeError, RuntimeError, BufferError) as error:
        raise TypeError(
            f"{name} cannot be read as an array of numpy: {error}. Convert the "
            f"{type(array).__name__} first: to the host, as by array.get() with cupy, and to "
            "float32 where it is bfloat16."
        ) from error
    return found.astype(np.float32) if found.dtype.name == "bfloat16" else found


def _from_torch(tensor: Any, name: str) -> np.ndarray:
    if tensor.is_meta:
        raise ValueError(f"{name} is a tensor on torch's device 'meta', which holds no values.")
    tensor = tensor.detach()
    if tensor.layout != sys.modules["torch"].strided:
        tensor = tensor.to_dense()
    if tensor.is_floating_point() and tensor.element_size() < 4:
        tensor = tensor.float()
    array: np.ndarray = tensor.numpy(force=True)  # from any device, also a view with signs turned
    return array
