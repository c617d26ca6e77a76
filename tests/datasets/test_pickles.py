"""Batches of CIFAR-10 by Python 2 and 3 are read; a pickle that does more is refused."""

import pickle
import struct

import numpy as np
import pytest

from sklearn_hashrank.datasets._pickles import read_batch

PLANES = np.random.default_rng(0).integers(0, 256, (2, 3072), dtype=np.uint8)
DTYPE = (
    b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
)
EMPTY = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
BIG = 0x7FFFFFFF
HUGE = b"\x8a\xfa" + b"\x7f" * 250  # an integer of 2000 bits
LAUGHS = b")q\x00" + b"h\x00\x86q\x00" * 60  # a tuple that has 2**60 parts when it is printed


def array(shape=b"K\x02M\x00\x0c\x86", dtype=DTYPE, order=b"\x89", content=None):
    """An array as Python 2 pickles it."""
    content = PLANES.tobytes() if content is None else content
    text = b"T" + struct.pack("<i", len(content)) + content
    return EMPTY + b"(K\x01" + shape + dtype + order + text + b"tb"


def batch(data=None, before=b"", after=b""):
    """A batch as Python 2 pickles it."""
    content = b"\x80\x02" + before + b"}q\x01(U\x0bbatch_labelq\x02U\x07testingU\x06labelsq\x04"
    return content + b"]q\x05(K\x03K\x07eU\x04dataq\x06" + (data or array()) + b"u" + after + b"."


def test_a_batch_of_python_2():
    found = read_batch(batch())
    assert found["batch_label"] == b"testing"
    assert found["labels"] == [3, 7]
    np.testing.assert_array_equal(found["data"], PLANES)
    assert pickle.loads(batch(), encoding="bytes")[b"labels"] == [3, 7]  # it is a pickle


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("key", [str, str.encode])
def test_a_batch_of_python_3(protocol, order, key):
    written = {key("data"): np.asarray(PLANES, order=order), key("labels"): [3, 7]}
    found = read_batch(pickle.dumps(written, protocol))
    np.testing.assert_array_equal(found["data"], PLANES)
    assert found["labels"] == [3, 7]


class Call:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


class State:
    """Something whose state is set."""

    def __init__(self):
        self.a = 1


HOSTILE = {
    "a system call": b"cos\nsystem\n(U\x04trueR.",
    "the same by name on the stack": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
    "INST": b"(S'true'\nios\nsystem\n.",
    "OBJ": b"(cos\nsystem\nS'true'\no.",
    "NEWOBJ": b"\x80\x02cnumpy\nndarray\nK\x02\x85\x81.",
    "a persistent id": b"\x80\x02K\x01Q.",
    "an extension": b"\x80\x02\x82\x01.",
    "an attribute of a name": b"\x80\x04\x8c\x05numpy\x8c\x0bdtype.char\x93.",
    "a dtype of other values": batch(array(dtype=DTYPE.replace(b"u1", b"O8"))),
    "a dtype that is only a name": batch(array(dtype=b"cnumpy\ndtype\n")),
    "state of a dict": b"\x80\x02}}b.",
    "state of a name": b"\x80\x02cnumpy\ndtype\n}b.",
    "state of an array": batch(EMPTY + b"}b"),
    "a call of a call": b"\x80\x02cnumpy\ndtype\nU\x02u1\x85R)R.",
    "too few bytes": batch(array(content=b"x")),
    "a shape of many huge lengths": batch(array(shape=b"(" + HUGE * 50_000 + b"t")),
    "a shape of tuples without end": batch(array(shape=b"(" + LAUGHS + b"t")),
    "a name of tuples without end": b"\x80\x04" + LAUGHS + LAUGHS + b"\x93.",
    "a shape beyond memory": batch(array(shape=b"J\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86")),
    "a negative shape": batch(array(shape=b"J\xff\xff\xff\xffJ\x00\xe8\xff\xff\x86")),
    "a shape that is no tuple": batch(array(shape=b"M\x00\x18")),
    "an object array": batch(array(content=b"")[:-10] + b"]tb"),
    "bytes after the end": batch() + b"N.",
    "two values": b"\x80\x02NN.",
    "no value": b"\x80\x02.",
    "only a mark": b"(.",
    "nothing": b"",
    "a list": b"\x80\x02].",
    "a key that is no text": b"\x80\x02}K\x01K\x02s.",
    "a key without a value": b"\x80\x02}(K\x01u.",
    "the same key twice": b"\x80\x03}(X\x01\x00\x00\x00aK\x01C\x01aK\x02u.",
    "a value that was never kept": b"\x80\x02h\x05.",
    "a length beyond the file": b"\x80\x04\x8e" + struct.pack("<Q", 1 << 60) + b"x.",
    "a negative length": b"T" + struct.pack("<i", -5) + b"x.",
    "an unknown operation": b"\xf0.",
    "a duplicate": b"\x80\x02}2.",
    "numpy's own scalar": pickle.dumps({"labels": [np.int64(1)]}),
    "an array of other numbers": pickle.dumps({"data": np.arange(3.0)}),
    "an array of objects": pickle.dumps({"data": np.array([{}])}),
    "a set": pickle.dumps({1, 2}),
    "a float": pickle.dumps({"a": 1.5}),
    "a call of print": pickle.dumps({"data": Call(print, "run")}),
    "a call of eval": pickle.dumps({"data": Call(eval, "1")}, 2),
    "an object": pickle.dumps(State()),
    "its state": pickle.dumps(State(), 2),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_pickles_that_do_anything_else_are_refused(content, capsys):
    with pytest.raises(ValueError):
        read_batch(content)
    assert capsys.readouterr().out == ""


def test_the_state_of_a_dtype_reaches_no_dtype():
    """numpy takes the parts of such a state for addresses."""
    evil = DTYPE.replace(b"NNN", b"U\x08" + b"A" * 8 + b"K\x01K\x02")
    np.testing.assert_array_equal(read_batch(batch(array(dtype=evil)))["data"], PLANES)


def test_a_huge_place_in_the_memo_takes_no_memory():
    content = batch(before=b"Nr" + struct.pack("<I", BIG) + b"0")
    with pytest.raises(ValueError, match="POP has no place"):
        read_batch(content)
    found = read_batch(batch().replace(b"}q\x01", b"}r" + struct.pack("<I", BIG)))
    assert found["labels"] == [3, 7]


def test_what_contains_itself_a_thousand_times_is_never_gone_through():
    nested = b"\x80\x02)q\x00" + b"h\x00\x86q\x00" * 1000 + b"."
    with pytest.raises(ValueError, match="does not hold a dict"):
        read_batch(nested)
    with pytest.raises(ValueError, match="a key is of type tuple"):
        read_batch(nested[:2] + b"}" + nested[2:-1] + b"Ns.")
