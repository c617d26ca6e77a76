"""Tensors in files that ``torch.save`` wrote, read by torch, which runs nothing of such a file."""

import os
import zipfile
from typing import Any

import numpy as np

from .._utils.extras import how_to_install
from .reading import MalformedFileError, open_regular, reading

_NO_TENSORS = ": not a file of tensors that torch.save wrote ({})."


def read_tensors(path: Any) -> dict[str, np.ndarray]:
    """Read the dense tensors that ``torch.save`` wrote: by their keys, a single one by "".

    Tensors of bfloat16, which numpy does not have, become float32. Needs torch.
    """
    with reading(path, _NO_TENSORS), open_regular(path) as file:
        _check_archive(file)
    try:
        import torch
    except ImportError as error:
        raise MalformedFileError(
            f"{os.fspath(path)}: torch is needed to read files of torch.save. Save the array as "
            f"a .npy file instead, or install torch: {how_to_install('deep')}"
        ) from error

    def is_array(value: Any) -> bool:
        is_dense = type(value) in (torch.Tensor, torch.nn.Parameter) and (
            value.layout == torch.strided and value.device.type == "cpu"
        )
        return is_dense and not value.is_quantized and not value.is_complex()

    with reading(path, _NO_TENSORS), open_regular(path) as file:
        saved = torch.load(file, map_location="cpu", weights_only=True)
        if not isinstance(saved, dict):
            saved = {"": saved}
        tensors = {str(name): value.detach() for name, value in saved.items() if is_array(value)}
        if not tensors:
            raise ValueError("it holds no dense tensor of real numbers, nor a dict of them")
        # Views with steps of 0, and views of one storage, can be larger by any factor.
        size = sum(value.numel() * value.element_size() for value in tensors.values())
        if size > os.fstat(file.fileno()).st_size:
            raise ValueError(f"its tensors are larger than the file, {size} bytes")
        return {
            name: (value.float() if value.dtype == torch.bfloat16 else value).numpy()
            for name, value in tensors.items()
        }


def _check_archive(file: Any) -> None:
    """Check what torch does not: nothing is compressed, so no storage is larger than its file."""
    if not zipfile.is_zipfile(file):
        raise ValueError("it is not a zip archive; save it by torch 1.6 or later")
    with zipfile.ZipFile(file) as archive:
        if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
            raise ValueError("its members are compressed")
    file.seek(0)
