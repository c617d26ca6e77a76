"""Arrays of libraries that offer DLPack, or refuse to be copied, wherever arrays come in."""

import numpy as np
import pytest

from sklearn_hashrank._features.tensors import as_host_array
from tests.foreign_arrays import ENTRIES


class OfDLPack:
    """An array that can be read by DLPack only."""

    def __init__(self, array):
        self.array, self.shape, self.ndim = array, array.shape, array.ndim
        self.dtype = f"other.{array.dtype}"

    def __len__(self):
        return len(self.array)

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnDevice(OfDLPack):
    """An array on an accelerator, which refuses to be copied without a word."""

    def __array__(self, *args, **options):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")


@pytest.mark.parametrize("name", ENTRIES)
def test_arrays_of_other_libraries_are_read(name):
    entry = ENTRIES[name]
    expected = entry(np.asarray)
    np.testing.assert_array_equal(entry(OfDLPack), expected)


@pytest.mark.parametrize("name", ENTRIES)
def test_arrays_on_other_devices_are_refused_with_the_line_that_converts(name):
    message = r"cannot be read as an array of numpy: Implicit.*host, as by array.get\(\) with cupy"
    with pytest.raises(TypeError, match=message):
        ENTRIES[name](OnDevice)


def test_what_is_read_anyway_stays_as_it_is():
    for array in ([1], np.zeros(3), range(3), None, "text", np.ma.zeros(2)):
        assert as_host_array(array, "X") is array
