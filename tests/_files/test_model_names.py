"""Codes name the model that made them, and codes of two models are not mixed."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from sklearn_hashrank import ITQHasher, LSHHasher, TALRLinear, load_hasher, save_hasher
from sklearn_hashrank._files.model_names import check_one_model, model_name
from sklearn_hashrank.cli import main
from sklearn_hashrank.comparison._method_table import method_from_name
from tests.instances import METHODS_HERE

X, Y = (part[:121] for part in load_digits(return_X_y=True))
SMALL = {"n_bits": 4, "n_bytes": 2, "max_iter": 1, "random_state": 0}
SHORTER = {"n_bits": 3, "n_bytes": 1}


@pytest.mark.filterwarnings("ignore::UserWarning")  # one pass over few rows learns little
@pytest.mark.parametrize("method", METHODS_HERE)
def test_a_name_is_of_what_codes_depend_on(method, tmp_path):
    """Saving, loading and encoding keep it; other rows, seeds or lengths change it."""
    hasher = method_from_name(method)
    parameters = hasher.get_params().keys()
    hasher.set_params(**{key: SMALL[key] for key in SMALL.keys() & parameters})
    y = np.column_stack([Y // 5, Y]) if "hierarchical" in method else Y
    hasher.fit(X, y)
    name = model_name(hasher)
    hasher.transform(X[:3])
    assert model_name(hasher) == name
    assert model_name(clone(hasher).fit(X, y)) == name
    for training_rows in (True, False):
        save_hasher(tmp_path / "m.npz", hasher, training_rows=training_rows)
        loaded = load_hasher(tmp_path / "m.npz")
        if "output" in parameters:
            loaded.set_params(output="packed")
        assert model_name(loaded) == name
        loaded.transform(X[:3])
        assert model_name(loaded) == name
    shorter = {key: SHORTER[key] for key in SHORTER.keys() & parameters}
    assert model_name(clone(hasher).set_params(**shorter).fit(X, y)) != name


def test_a_hasher_that_goes_on_learning_has_another_name():
    hasher = TALRLinear(4, max_iter=1, random_state=0).fit(X, Y)
    before = model_name(hasher)
    assert model_name(hasher.partial_fit(X, Y)) != before


def test_a_hasher_that_no_file_can_hold_has_no_name():
    hasher = LSHHasher(4, random_state=0).fit(X)
    hasher.own_ = lambda: 0
    assert model_name(hasher) is None


def test_what_has_no_name_goes_with_everything():
    check_one_model([("a", "1" * 64), ("b", None), ("c", "1" * 64)])
    with pytest.raises(ValueError, match=r"c .* a, 2{8} and 1{8}"):
        check_one_model([("a", "1" * 64), ("b", None), ("c", "2" * 64)])


@pytest.mark.parametrize("ours", ["npy", "parquet", "folder"])
@pytest.mark.parametrize("theirs", ["npy", "parquet"])
def test_no_command_mixes_codes_of_two_models(ours, theirs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", X)
    np.save("y.npy", Y)
    save_hasher("a.npz", ITQHasher(8, random_state=0).fit(X))
    save_hasher("b.npz", ITQHasher(8, random_state=1).fit(X))
    a, b = "a" if ours == "folder" else f"a.{ours}", f"b.{theirs}"
    np.save("plain.npy", ITQHasher(8, random_state=0).fit(X).packed_codes(X))
    encode = "encode --data X.npy --model {}.npz --output {}"
    for command in (encode.format("a", a), encode.format("b", b)):
        assert main(command.split()) == 0
    labels = "--database-labels y.npy"
    for mixed in (
        f"search --database {a} --queries {b}",
        f"search --database {a} --data X.npy --model b.npz",
        f"evaluate --database {a} --queries {b} {labels} --query-labels y.npy",
        f"evaluate --database {a} --queries {a} {labels} --query-labels y.npy --rescore 3 "
        "--model b.npz --query-data X.npy --database-data X.npy",
    ):
        capsys.readouterr()
        assert main(mixed.split()) == 2
        line = capsys.readouterr().err
        assert "another model" in line
        assert line.count("\n") == 1
    for alike in (
        f"search --database {a} --queries {a} -k 1",
        f"search --database {a} --data X.npy --model a.npz -k 1",
    ):
        assert main(alike.split()) == 0
        assert capsys.readouterr().err == ""
    assert main(f"search --database {a} --queries plain.npy --bits 8 -k 1".split()) == 0
    assert "note: plain.npy does not name" in capsys.readouterr().err
