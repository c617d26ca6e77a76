"""Files as ``torch.save`` writes them, written without torch."""

import struct
import zipfile

import numpy as np

STORAGES = {"f4": "FloatStorage", "f8": "DoubleStorage", "i8": "LongStorage", "b1": "BoolStorage"}


def text(word):
    return b"X" + struct.pack("<I", len(word)) + word.encode()


def numbers(*values):
    return b"(" + b"".join(b"J" + struct.pack("<i", value) for value in values) + b"t"


def tensor(array, key, offset=0, shape=None, strides=None, n_numbers=None):
    """Opcodes that torch.save writes for a tensor."""
    array = np.asarray(array)
    steps = [step // array.itemsize for step in array.strides]
    storage = STORAGES[array.dtype.str[1:]]
    n_numbers = array.size if n_numbers is None else n_numbers
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n(("
        + text("storage")
        + f"ctorch\n{storage}\n".encode()
        + text(str(key))
        + text("cpu")
        + numbers(n_numbers)[1:-1]
        + b"tQ"
        + numbers(offset)[1:-1]
        + numbers(*(array.shape if shape is None else shape))
        + numbers(*(steps if strides is None else strides))
        + b"\x89ccollections\nOrderedDict\n)RtR"
    )


def save(path, body, storages, **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02" + body + b".")
        for key, array in enumerate(storages):
            archive.writestr(f"archive/data/{key}", np.asarray(array).tobytes())
        archive.writestr("archive/byteorder", "little")
