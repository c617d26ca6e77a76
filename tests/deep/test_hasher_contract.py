"""DeepHasher in files, pickles, blocks, dask, threads and callbacks; and what it refuses."""

import pickle
import subprocess
import sys
import threading

import dask.array as da
import joblib
import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from torch import nn

from sklearn_hashrank import load_hasher, save_hasher
from sklearn_hashrank._files.container import read_archive, write_archive
from sklearn_hashrank.deep import DeepHasher, PairwiseLoss, TieAwareLoss
from sklearn_hashrank.deep._threads import torch_threads
from sklearn_hashrank.metrics import make_retrieval_scorer

X, Y = load_digits(return_X_y=True)
X, Y = X[:300], Y[:300]
IMAGES = X.reshape(-1, 8, 8)


class Trunk(nn.Module):
    def __init__(self, n_features=64, width=24):
        super().__init__()
        self.layer = nn.Linear(n_features, width)

    def forward(self, rows):
        return self.layer(rows).relu()


class Noisy(nn.Sequential):
    """With layers that behave in another way while they learn."""

    def __init__(self, n_features, n_bits):
        layers = nn.BatchNorm1d(24), nn.Dropout(), nn.ReLU(inplace=True)
        super().__init__(nn.Linear(n_features, 24), *layers, nn.Linear(24, n_bits))


class Items(torch.utils.data.Dataset):
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, number):
        return self.items[number]


def bare(n_bits):
    return nn.Linear(64, n_bits)


def hasher(**options):
    return DeepHasher(**{"n_bits": 9, "max_iter": 2, "random_state": 0, **options})


# Files


@pytest.mark.parametrize(
    ("module", "rows", "types"),
    [
        (None, X, ()),
        (None, IMAGES, ()),
        (Noisy, X, [Noisy]),
        (bare, X, bare),
        (Trunk(), X, [Trunk]),
        (Trunk(64, 8), X, Trunk(64, 8)),
        (nn.Conv2d(1, 4, 3), IMAGES.astype(np.float32), [nn.Conv2d(1, 4, 3)]),
    ],
    ids=["rows", "images", "class", "function", "network", "arguments", "of torch"],
)
def test_files_hold_the_weights(module, rows, types, tmp_path):
    fitted = hasher(module=module).fit(rows, Y)
    save_hasher(tmp_path / "hasher.npz", fitted)
    state = torch.random.get_rng_state()
    loaded = load_hasher(tmp_path / "hasher.npz", types=types)
    assert module is not None or torch.equal(torch.random.get_rng_state(), state)
    assert_array_equal(loaded.decision_function(rows), fitted.decision_function(rows))
    assert not loaded.network_.training
    assert loaded.fit(rows, Y).codes_.shape == fitted.codes_.shape
    if types:
        with pytest.raises(ValueError, match=r"Pass the class: load_hasher\(path, types=\["):
            load_hasher(tmp_path / "hasher.npz")


def test_files_are_read_where_nothing_was_imported(tmp_path):
    save_hasher(tmp_path / "hasher.npz", hasher().fit(X, Y))
    path = str(tmp_path / "hasher.npz")
    code = f"from sklearn_hashrank import load_hasher; print(load_hasher({path!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("DeepHasher(")


def test_files_refuse_what_has_no_name_and_what_does_not_fit(tmp_path):
    path = tmp_path / "hasher.npz"
    with pytest.raises(ValueError, match="module.*<lambda>"):
        save_hasher(path, hasher(module=lambda n_bits: bare(n_bits)).fit(X, Y))
    with pytest.raises(ValueError, match="objective.*TieAwareLoss"):
        save_hasher(path, hasher(objective=TieAwareLoss()).fit(X, Y))
    save_hasher(path, hasher(module=Trunk(64, 8)).fit(X, Y))
    with pytest.raises(ValueError, match="weights"):
        load_hasher(path, types=[Trunk])
    fitted = hasher().fit(X, Y)
    with torch.no_grad():
        next(fitted.network_.parameters())[:] = torch.nan
    with pytest.raises(ValueError, match="9 finite projections"):
        save_hasher(path, fitted)


class Plain(nn.Module):
    """With a tensor that torch knows nothing of."""

    def __init__(self, n_features, n_bits):
        super().__init__()
        self.keep(torch.randn(n_features, 16))
        self.head = nn.Linear(16, n_bits)

    def keep(self, planes):
        self.planes = planes

    def forward(self, rows):
        return self.head(torch.tanh(rows @ self.planes / 8))


class NotPersistent(Plain):
    def keep(self, planes):
        self.register_buffer("planes", planes, persistent=False)


class Persistent(Plain):
    def keep(self, planes):
        self.register_buffer("planes", planes)


class Same(Plain):
    """Makes the same tensor every time."""

    def keep(self, planes):
        self.planes = torch.eye(*planes.shape)


class Extra(Persistent):
    """With state that is no tensor."""

    factor: "float | torch.Tensor" = 2.0

    def get_extra_state(self):
        return self.factor

    def set_extra_state(self, state):
        self.factor = state


class ExtraTensor(Extra):
    factor = torch.tensor(2.0)


def test_the_length_of_codes_is_not_the_first_parameter():
    for learn in (DeepHasher(8).fit, DeepHasher(8).check_data):
        with pytest.raises(ValueError, match=r"module.*Got 8 .*n_bits=8"):
            learn(X, Y)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (Plain, "encodes otherwise than the hasher that was stored.*neither parameters nor buff"),
        (NotPersistent, "encodes otherwise than the hasher that was stored.*persistent=False"),
        (Extra, "_extra_state of the network cannot be stored: its get_extra_state gives a float"),
        (Persistent, None),
        (Same, None),
        (ExtraTensor, None),
    ],
)
def test_what_files_do_not_hold_of_a_network_is_noticed(module, message, tmp_path):
    fitted = hasher(module=module).fit(X, Y)
    if message is not None:
        with pytest.raises(ValueError, match=message):
            save_hasher(tmp_path / "hasher.npz", fitted)
        return
    save_hasher(tmp_path / "hasher.npz", fitted)
    loaded = load_hasher(tmp_path / "hasher.npz", types=module)
    assert_array_equal(loaded.decision_function(X), fitted.decision_function(X))


def test_a_network_of_a_changed_class_is_refused(tmp_path):
    save_hasher(tmp_path / "hasher.npz", hasher(module=Same).fit(X, Y))
    later = type("Same", (Same,), {"keep": lambda self, planes: setattr(self, "planes", planes)})
    with pytest.raises(ValueError, match="types"):
        load_hasher(tmp_path / "hasher.npz", types=later)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_compiled_networks_are_stored_or_refused(tmp_path):
    compiled = torch.jit.script(Trunk())
    with pytest.raises(ValueError, match="torch.jit"):
        hasher(module=compiled).fit(X, Y)
    fitted = hasher(module=compiled, trunk_learning_rate=0).fit(X, Y)
    save_hasher(tmp_path / "hasher.npz", fitted)
    loaded = load_hasher(tmp_path / "hasher.npz", types=compiled)
    assert_array_equal(loaded.transform(X), fitted.transform(X))


@pytest.mark.parametrize(
    "changes",
    [
        {"input_shape_": {"tuple": [10**9]}, "n_features_in_": 10**9},
        {"n_bits_": 10**8},
        {"n_bits_": "a"},
        {"n_features_in_": 5},
        {"_inputs": "a"},
        {"_weights": "a"},
        {"_weights": {"dict": []}},
    ],
    ids=str,
)
def test_files_whose_parts_do_not_fit_together_are_refused(changes, tmp_path):
    """Before anything of the size that they name is allocated."""
    save_hasher(tmp_path / "hasher.npz", hasher().fit(X, Y))
    about, arrays = read_archive(tmp_path / "hasher.npz")
    about["hasher"]["object"][2] |= changes
    write_archive(tmp_path / "hasher.npz", about, [("", array) for array in arrays])
    with pytest.raises(ValueError, match="does not hold a hasher that .* can load"):
        load_hasher(tmp_path / "hasher.npz")


@pytest.mark.parametrize("module", [None, Noisy, Trunk()], ids=["none", "class", "network"])
def test_pickles(module):
    fitted = hasher(module=module).fit(X, Y)
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.transform(X), fitted.transform(X))
    assert again.score(X, Y) == fitted.score(X, Y)


@pytest.mark.parametrize("name", ["network_", "module", "objective"])
def test_pickles_leave_the_device(name):
    """The meta device stands for an accelerator: its weights cannot be pickled as numbers."""
    fitted = hasher().fit(X, Y)
    on_cpu = nn.Linear(64, 9)
    moved = []

    class Elsewhere(nn.Linear):
        def __deepcopy__(self, memo):
            return self

        def cpu(self):
            moved.append(self)
            return on_cpu

    setattr(fitted, name, Elsewhere(1, 1, device="meta"))
    again = pickle.loads(pickle.dumps(fitted))
    assert len(moved) == 1
    assert all(each.device.type == "cpu" for each in getattr(again, name).parameters())


# Blocks, searches, threads


def test_blocks_and_dask(tmp_path):
    fitted = hasher().fit(IMAGES, Y)
    expected = fitted.packed_codes(IMAGES)
    np.save(tmp_path / "images.npy", IMAGES)
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r")
    assert_array_equal(fitted.encode_blocks(mapped, batch_size=70, n_jobs=2), expected)
    blocks = iter([IMAGES[:100], IMAGES[100:]])
    assert_array_equal(fitted.encode_blocks(blocks, out=tmp_path / "codes.npy"), expected)
    items = Items(list(zip(IMAGES, Y)))
    assert_array_equal(fitted.encode_blocks(items, out=tmp_path / "codes.npy"), expected)
    chunks = da.from_array(IMAGES, chunks=(100, 4, 8))
    assert_array_equal(fitted.encode_blocks(chunks), expected)
    assert_array_equal(hasher().fit(chunks, Y).packed_codes(IMAGES), expected)
    assert_array_equal(fitted.transform(chunks).compute(), fitted.transform(IMAGES))
    assert_array_equal(fitted.decision_function(chunks).compute() > 0, fitted.transform(IMAGES))


def test_pipelines_scorers_and_searches():
    scorer = make_retrieval_scorer("ap", database="fit")
    scores = cross_val_score(make_pipeline(PCA(20), hasher()), X, Y, cv=2, scoring=scorer)
    assert np.all(scores > 0.3)
    search = GridSearchCV(hasher(), {"n_bits": [4, 9], "objective": ["ap", "dsh"]}, cv=2, n_jobs=2)
    search.fit(IMAGES, Y)
    assert search.best_estimator_.score(IMAGES, Y) > 0.15


@pytest.mark.parametrize("rows", [X, IMAGES], ids=["rows", "images"])
def test_torch_has_one_thread_unless_more_are_asked_for(rows):
    seen, before = [], torch.get_num_threads()

    class Watch(nn.Module):
        def forward(self, batch):
            seen.append(torch.get_num_threads())
            return batch.flatten(1)

    torch.set_num_threads(3)
    try:
        fitted = hasher(module=Watch(), max_iter=1).fit(rows, Y)
        fitted.transform(rows)
        assert set(seen) == {1}
        seen.clear()
        fitted.set_params(n_jobs=2).fit(rows, Y)
        assert set(seen) == {2}
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("first_leaves_first", [True, False])
def test_every_thread_gets_its_number_of_threads_back(first_leaves_first):
    """The number belongs to a thread; a new thread takes the one that was set last."""
    before, inside, may_leave = torch.get_num_threads(), threading.Event(), threading.Event()
    found = []

    def work():
        with torch_threads(1):
            inside.set()
            may_leave.wait()
        found.append(torch.get_num_threads())

    torch.set_num_threads(3)
    try:
        worker = threading.Thread(target=work)
        with torch_threads(1):
            worker.start()
            inside.wait()
            if not first_leaves_first:
                may_leave.set()
                worker.join()
        found.append(torch.get_num_threads())
        may_leave.set()
        worker.join()
        another = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
        another.start()
        another.join()
        assert [*found, torch.get_num_threads()] == [3, 3, 3, 3]
        hasher(max_iter=1).fit(X, Y).encode_blocks(X, batch_size=20, n_jobs=2)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_networks_that_learn_in_threads_do_not_disturb_each_other():
    def codes(seed):
        return hasher(random_state=seed).fit(X, Y).codes_

    expected = [codes(seed) for seed in range(4)]
    found = joblib.Parallel(4, backend="threading")(joblib.delayed(codes)(s) for s in range(4))
    assert_array_equal(found, expected)


def test_no_batch_has_a_single_row():
    for n_rows, size in ((3, 2), (7, 2), (101, 100)):
        y = np.arange(n_rows) % 2  # pairs of each kind, to learn from
        fitted = hasher(module=Noisy, batch_size=size).fit(X[:n_rows], y)
        assert fitted.n_iter_ == 2


def test_batches_of_many_classes_are_made_of_groups():
    y = np.arange(300) % 100
    assert hasher().fit(X, y).batch_size_ == 300
    y = np.arange(1200) % 200
    assert hasher(max_iter=1).fit(np.tile(X, (4, 1)), y).batch_size_ == 512


# Training


def test_early_stopping_returns_the_best_network():
    fitted = hasher(early_stopping=True, max_iter=30, n_iter_no_change=3, learning_rate=0.05)
    fitted.fit(X, Y)
    values = fitted.history_["validation"]
    assert fitted.n_iter_ == len(values) <= 30
    assert all(0 < value <= 1 for value in values)
    own = hasher(n_bits=10, objective=nn.CrossEntropyLoss(), early_stopping=True).fit(X, Y)
    assert len(own.history_["validation"]) == 2
    assert np.all(np.isfinite(own.history_["validation"]))


def test_warm_start_goes_on():
    once = hasher(schedule="constant").fit(X, Y)
    twice = hasher(schedule="constant", warm_start=True).fit(X, Y).fit(X, Y)
    assert twice.history_["objective"][0] > once.history_["objective"][-1]
    with pytest.raises(ValueError, match="9 bits.*n_bits=4"):
        twice.set_params(n_bits=4).fit(X, Y)
    with pytest.raises(ValueError, match="X has 5 features"):
        twice.set_params(n_bits=9).fit(X[:, :5], Y)


def test_a_fit_that_fails_leaves_no_mixture():
    fitted = hasher().fit(X, Y)
    with pytest.raises(ValueError, match="diverged"):
        fitted.set_params(learning_rate=1e30).fit(2 * X, Y)
    with pytest.raises(NotFittedError):
        fitted.transform(X)
    fitted = hasher(warm_start=True).fit(X, Y)
    codes = fitted.transform(X)
    with pytest.raises(ValueError, match="diverged"):
        fitted.set_params(learning_rate=1e30).fit(2 * X, Y)
    assert_array_equal(fitted.transform(X), codes)


def test_without_y_it_learns_from_nearest_rows():
    fitted = hasher(objective="ndcg", max_iter=5).fit(X)
    assert fitted.batch_size_ == 300
    assert fitted.score(X) > 0.4
    assert hasher().fit(IMAGES.astype(np.uint8)).score(IMAGES) > 0.1


def test_modes_of_torch_do_not_matter():
    expected = hasher().fit(X, Y).codes_
    with torch.no_grad():
        assert_array_equal(hasher().fit(X, Y).codes_, expected)
    with torch.inference_mode():
        assert_array_equal(hasher().fit(X, Y).codes_, expected)


def test_user_rows_are_not_written_to():
    class Inplace(nn.Module):
        def forward(self, rows):
            return rows.mul_(2)

    rows = X.astype(np.float32)
    before = rows.copy()
    hasher(module=Inplace()).fit(rows, Y).transform(rows)
    assert_array_equal(rows, before)


def test_callbacks_see_every_pass_and_can_stop():
    pytest.importorskip("sklearn.callback")
    seen = []

    class StopAfterThree:
        def setup(self, estimator, context):
            seen.append("setup")

        def teardown(self, estimator, context):
            seen.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            seen.append(fitted_estimator.predict(X[:1]).shape)
            return context.task_name == "iteration" and context.task_id == 2

    fitted = hasher(max_iter=9).set_callbacks(StopAfterThree()).fit(X, Y)
    assert fitted.n_iter_ == 3
    assert seen == ["setup", *[(1, 9)] * 4, "teardown"]


# Refusals


def constant(value):
    return lambda *args, **kwargs: value


@pytest.mark.parametrize(
    ("options", "rows", "message"),
    [
        ({}, X[:1], "needs at least two rows to rank. Got n_samples = 1"),
        ({}, np.zeros((300, 8, 8, 8)), r"neither the first nor the last axis.*channels='first'"),
        ({}, np.zeros((300, 3, 8, 3)), "both the first and the last axis may be the channels"),
        ({}, np.zeros((300, 3, 8, 3, 2)), r"images must have shape .* Got images of shape"),
        ({"image_shape": (7, 7)}, X, r"image_shape=\(7, 7\) does not fit rows of n_features = 64"),
        ({"image_shape": (4, 16)}, IMAGES, r"shape \(8, 8\), but image_shape=\(4, 16\)"),
        ({}, np.where(X > 15, np.nan, X), "Input X contains NaN"),
        ({}, np.where(IMAGES > 15, np.nan, IMAGES), "Input X contains NaN"),
        ({"module": constant(nn.Linear(64, 5))}, X, r"must give n_bits=9 scores .* \(2, 5\)"),
        ({"module": constant(3)}, X, "module must make a torch.nn.Module"),
        ({"module": constant(nn.Linear(60, 9))}, X, r"does not take rows of shape \(2, 64\)"),
        ({"module": nn.Linear}, X, "also needs in_features, out_features; wrap it"),
        ({"augment": lambda rows: rows * torch.nan}, X, "step 1, before anything was"),
        ({"module": lambda: nn.Flatten()}, X[:, :9], "no parameters to learn"),
        ({"module": nn.Flatten(0)}, X, r"features for each row.* Got \(128,\) for 2 rows"),
        (
            {"learning_rate": 1e30},
            X,
            r"NaN or infinity in step \d+. Lower learn",
        ),
        ({"device": "cuda:99"}, X, "device must be 'auto', 'cpu' or another device"),
        ({"device": "abacus"}, X, "device must be 'auto', 'cpu' or another device"),
        ({"objective": "best"}, X, "'objective' parameter of DeepHasher must be a str among"),
        ({"objective": "hierarchical"}, X, "needs superclasses: y as label paths"),
        ({"objective": TieAwareLoss(affinity="precomputed")}, X, "belongs to the hasher"),
        ({"objective": nn.Identity()}, X, "forward"),
        ({"augment": "flip"}, X, "augment='flip' changes images, and X holds rows"),
        ({"augment": lambda rows: rows[:1]}, X, "augment must return a tensor like the one"),
        ({"early_stopping": True, "validation_fraction": 0.001}, X, "leaves 0 rows for validation"),
    ],
    ids=range(25),
)
def test_refusals(options, rows, message):
    error = (ValueError, TypeError)
    with pytest.raises(error, match=message):
        hasher(**options).fit(rows, Y[: len(rows)])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y + 0.5, "non-integral numbers"),
        (Y[:10], r"inconsistent numbers of samples: \[300, 10\]"),
        (np.zeros((300, 2, 2)), "Found array with dim 3"),
        (np.where(Y == 0, np.nan, Y), "Input y contains NaN"),
    ],
)
def test_wrong_y(y, message):
    with pytest.raises(ValueError, match=message):
        hasher().fit(X, y)


def test_losses_of_users_need_numbers():
    own = hasher(n_bits=10, objective=nn.CrossEntropyLoss())
    assert own.fit(X, Y).score(X, Y) > 0.1
    with pytest.raises(ValueError, match="CrossEntropyLoss.*dtype"):
        own.fit(X, Y.astype(str))
    with pytest.raises(ValueError, match="CrossEntropyLoss.*y=None"):
        own.fit(X)


def test_rows_of_another_form_than_in_fit():
    images, rows = hasher().fit(IMAGES, Y), hasher().fit(X, Y)
    with pytest.raises(ValueError, match=r"\(8, 8\).*\(7, 8\)"):
        images.transform(IMAGES[:, :7])
    with pytest.raises(ValueError, match="64 features"):
        rows.transform(IMAGES)
    with pytest.raises(ValueError, match="X has 60 features"):
        images.transform(X[:, :60])
    with pytest.raises(NotFittedError):
        clone(rows).transform(X)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([], r"Found array with 0 sample\(s\): the data set is empty"),
        ([(X[0], 0), (X[1, :5], 1), (X[2], 0)], r"The first has \(64,\), item 1 has \(5,\)"),
        ([(X[0], 0), (X[1] * np.nan, 1), (X[2], 0)], "NaN or infinity, in item 1 of the data set"),
        ([("a", 0), ("b", 1)], "rows of a data set must be numbers"),
    ],
)
def test_data_sets_that_are_refused(items, message):
    with pytest.raises(ValueError, match=message):
        hasher().fit(Items(items))


def test_data_sets_without_y_and_with_another():
    bare_rows = Items(list(X))
    assert_array_equal(hasher().fit(bare_rows, Y).codes_, hasher().fit(X, Y).codes_)
    assert hasher().fit(bare_rows).score(bare_rows) == hasher().fit(X).score(X)


class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        return iter(X)


def test_streams_are_refused():
    with pytest.raises(ValueError, match="length"):
        hasher().fit(Stream(), Y)


def test_pairs_learn_from_objects_and_losses_alike():
    by_name = hasher(objective="dsh").fit(X, Y).codes_
    assert_array_equal(hasher(objective=PairwiseLoss("dsh")).fit(X, Y).codes_, by_name)
    assert_array_equal(hasher(objective=PairwiseLoss().objective).fit(X, Y).codes_, by_name)
