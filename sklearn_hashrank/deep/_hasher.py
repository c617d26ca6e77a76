"""A network that is a hasher like the others."""

import contextlib
import copy
import math
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import _fit_context
from sklearn.utils import check_array, check_consistent_length, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, InvalidParameterError, StrOptions
from sklearn.utils.validation import validate_data
from torch.utils.data import DataLoader, Dataset

from .._features.space import FeatureSpace
from .._learning.minibatch_learning import MinibatchLearning, check_n_bits
from .._learning.neighbor_relevance import MOST_ROWS
from .._learning.relevance import check_two_rows, learned_affinity, learned_relevance
from .._solvers.stochastic import SCHEDULES
from .._utils.callbacks import CallbackSupportMixin
from .._utils.parameters import is_int
from .._utils.threads import one_blas_thread
from ..affinity._auto import is_auto
from ..affinity._coercion import as_array
from ..affinity._learnable import check_can_learn
from ..affinity._neighbors import NeighborAffinity
from ..affinity._protocol import BaseAffinity
from ..base import BaseHasher, BitByBitHasher
from ..objectives._objective_names import LIKELIHOODS, RANKING, ZONES
from ._augmentation import AUGMENTATIONS
from ._datasets import DatasetRows
from ._defaults import choose_recipe
from ._images import find_layout, moments_of
from ._learner import OPTIMIZERS, Inputs, NetworkModel, encode, find_device
from ._modules import Parts, build, rebuild, seeded, weights_of
from ._objectives import OwnLossOfRows, check_given, objective_of_rows
from ._threads import torch_threads

_ROWS = {"accept_sparse": "csr", "dtype": [np.float64, np.float32, np.uint8]}
_KNOWN = ("_inputs", "_n_outputs", "input_shape_", "n_bits_")  # what a network needs to encode
_EXAMPLES = 2  # rows that tell what a network makes of them


class DeepHasher(CallbackSupportMixin, BitByBitHasher):
    """A network whose outputs are bits, trained end to end.

    In every minibatch each row queries all the others. The network maximizes a tie-aware measure of
    these rankings [1]_, or an objective of the pairs of rows [2]_. Inputs are centered and scaled
    inside. A bit is 1 where an output is above 0.

    Parameters
    ----------
    module : None, Module, class or callable, default=None
        The network. None: a multilayer perceptron for rows of features, and a network of three
        convolutions for images. A class or a function makes a network, of type
        :class:`torch.nn.Module`, that gives `n_bits` scores for each row; it is called with those
        of the keywords `n_bits`, `n_features` (of rows) and `image_shape` (channels, height,
        width) that it takes. Of a network a copy is fine-tuned, whose output gets a layer of
        `n_bits`.
    n_bits : int, default=32
        Length of a code.
    objective : str, object or Module, default="ap"
        What is maximized: ``"ap"``, ``"ndcg"`` or ``"mi"`` (see
        :class:`~sklearn_hashrank.deep.TieAwareLoss`), ``"dsh"``, ``"dispersed"``,
        ``"hierarchical"``, ``"nested"``, ``"dpsh"``, ``"hashnet"`` or ``"dtsh"`` (see
        :class:`~sklearn_hashrank.deep.PairwiseLoss`), an object with
        ``value_and_gradient(scores, level, levels)``, such as ``AveragePrecision(alpha_end=4)``, or
        a loss. A loss of your own is called with the scores and the `y` of a batch, both tensors.
        Objectives and losses with a method ``anneal(progress)`` are told before every step how
        much of the training is done, as ``"hashnet"`` is, whose relaxed codes become steeper.
    prefixes : tuple of int, default=None
        Numbers of first bits, at most `n_bits`. The mean of the objective over these prefixes is
        maximized, so that the first bits of a long code are a good short code; include `n_bits`
        itself. See :meth:`truncate` and :ref:`prefix_codes`. None: all bits only.
    affinity : "auto" or affinity object, default="auto"
        How `y` says what is relevant; see :mod:`sklearn_hashrank.affinity`. ``"auto"`` without `y`
        learns from the nearest rows, and judges by distances; see :ref:`unlabelled`.
    image_shape : tuple of int, default=None
        Shape of the image in a flattened row: (height, width), (height, width, channels) or
        (channels, height, width). One number may be -1. None: flat rows are features. Arrays of
        images bring their own shape; it must agree with `image_shape` if given.
    channels : {"auto", "first", "last"}, default="auto"
        Where the channels of an image with three axes are. ``"auto"`` takes the axis of at most 4
        numbers.
    standardize : bool or "auto", default="auto"
        Whether inputs are centered and scaled by the training rows: each feature, or each channel
        of images. ``"auto"`` does so except for a given network, which wants what it was trained
        on.
    optimizer : {"adam", "sgd"} or callable, default="adam"
        Adam with decoupled weight decay; stochastic gradient descent with Nesterov momentum of 0.9;
        or a class of :mod:`torch.optim`, or a function, called with groups of parameters, `lr` and
        `weight_decay`.
    learning_rate : float or "auto", default="auto"
        Length of a step at the start. ``"auto"`` suits Adam and its like; for ``"sgd"`` it is 100
        times as much.
    trunk_learning_rate : float or "auto", default="auto"
        The same for the parameters of a given network. With 0 nothing in it changes, statistics of
        batch normalization included, and its dropout is off.
    schedule : {"constant", "step", "cosine"}, default="cosine"
        How the length of a step falls during `max_iter` passes.
    weight_decay : float or "auto", default="auto"
        That of the optimizer.
    batch_size : int or "auto", default="auto"
        Rows of a minibatch, at most all of them. ``"auto"`` is 256, and more where relevant items
        are rare, as for :class:`~sklearn_hashrank.TALRLinear`: batches are made of groups of a
        class where there are many classes, and of neighbors where nearest rows are relevant.
    max_iter : int or "auto", default="auto"
        Most passes over the training rows. ``"auto"`` is 20 for images and 40 for rows of features,
        and more where those are less than 400 steps.
    augment : {"auto", "shift", "flip"}, callable or None, default="auto"
        How the images of a batch are changed before a step. ``"shift"`` moves each by a tenth of
        its size at most; ``"flip"`` exchanges left and right of every second one as well, which
        suits photographs, and no digits. ``"auto"`` shifts images and leaves rows of features
        alone. A callable takes and returns a tensor of shape (n, channels, height, width), or (n,
        n_features), centered and scaled.
    early_stopping : bool, default=False
        Whether to keep part of the training rows for validation, to return the weights that were
        best, and to stop after `n_iter_no_change` passes without improvement. Validation looks at
        the tie-aware measure that the objective names, or else at the objective itself.
    validation_fraction : float, default=0.1
        Share of the rows kept for validation.
    n_iter_no_change : int, default=10
        Passes to wait for a better validation.
    warm_start : bool, default=False
        Whether :meth:`fit` starts from the network of the last fit.
    device : str or device, default="auto"
        Where the network learns and encodes. ``"auto"`` is an accelerator that torch finds, or else
        the CPU. A pickle or file holds the network on the CPU.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the network, the minibatches, the changes of images and the validation rows. The
        generators of torch itself are left as they were; fits in several threads wait for each
        other, because threads share them.
    n_jobs : int or None, default=None
        Threads of torch on the CPU. None means 1 unless in a :obj:`joblib.parallel_config` context,
        -1 means all processors. More than one pay for convolutions where the machine has nothing
        else to do; sums may then be rounded in another way, so that results differ a little.
    verbose : int, default=0
        Print a line every `verbose` passes: the objective, and the tie-aware measure of the
        validation rows, or of up to 1,000 training rows among themselves where there are none.

    Attributes
    ----------
    network_ : Module
        The trained network, in evaluation mode. That of a truncated hasher still gives the scores
        of all bits.
    input_shape_ : tuple of int
        What the network takes: (n_features,), or (channels, height, width).
    affinity_ : affinity object
        The affinity that was learned from. Without `y` and with ``affinity="auto"`` it is that of
        the nearest rows, which are not kept; :meth:`score` then judges by thresholds of distance.
    history_ : dict of list
        For each pass the mean ``"objective"`` over the minibatches, minus the loss, the
        ``"learning_rate"`` at its end, and the ``"validation"`` where `early_stopping` is on.
    n_iter_ : int
        Passes done.
    batch_size_ : int
        Rows of a minibatch.
    group_size_ : int or None
        Rows of a class or label path in a group, about, where batches are made of groups.
    n_bits_ : int
        Length of the codes, whatever `n_bits` was set to after `fit`.
    codes_ : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes of the training rows.
    y_ : array-like
        `y` of the training rows; absent where it was None.
    n_features_in_ : int
        Number of features, or of the numbers of an image, seen during fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when `X` has string column names.

    Notes
    -----
    `X` may be rows of features, dense or sparse; images of shape (n, height, width), (n, height,
    width, channels) or (n, channels, height, width), of bytes or floats; or a
    :class:`torch.utils.data.Dataset` with a length, whose items are rows or tuples of a row and its
    `y`. Items are read when they are needed, at least twice before the first pass.

    Projections are float32, whatever the rows are, because networks compute in it.

    References
    ----------
    .. [1] K. He, F. Cakir, S. A. Bargal, S. Sclaroff, "Hashing as tie-aware learning to rank",
       CVPR 2018.
    .. [2] P. L. K. Ding, Y. Li, B. Li, "Mean local group average precision (mLGAP): a new
       performance metric for hashing-based retrieval", 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank.deep import DeepHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = DeepHasher(n_bits=16, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(hasher.score(X[1000:], y[1000:]) > 0.8)
    True

    A network of your own:

    >>> import torch
    >>> def network(n_features, n_bits):
    ...     return torch.nn.Sequential(
    ...         torch.nn.Linear(n_features, 64), torch.nn.ReLU(), torch.nn.Linear(64, n_bits)
    ...     )
    >>> hasher = DeepHasher(network, n_bits=16, max_iter=10, random_state=0)
    >>> hasher.fit(X[:1000], y[:1000]).transform(X[:2]).shape
    (2, 16)
    """

    _parameter_constraints: dict = {
        **BaseHasher._parameter_constraints,
        "module": [None, callable],
        "objective": [
            StrOptions({*RANKING, *LIKELIHOODS, *ZONES}),
            HasMethods("value_and_gradient"),
            torch.nn.Module,
        ],
        "prefixes": [None, list, tuple, np.ndarray],
        "affinity": [StrOptions({"auto"}), BaseAffinity],
        "image_shape": [None, "array-like"],
        "channels": [StrOptions({"auto", "first", "last"})],
        "standardize": [StrOptions({"auto"}), "boolean"],
        "optimizer": [StrOptions(set(OPTIMIZERS)), callable],
        "learning_rate": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "trunk_learning_rate": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "schedule": [StrOptions(set(SCHEDULES))],
        "weight_decay": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "batch_size": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
        "max_iter": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "augment": [None, StrOptions(set(AUGMENTATIONS)), callable],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "warm_start": ["boolean"],
        "device": [str, torch.device],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    _attributes_of_bits = ()  # the network gives all scores, of which the first are taken
    _passed_again = ("module", "optimizer", "augment")  # where a file is read

    network_: torch.nn.Module
    input_shape_: tuple[int, ...]
    _inputs: Inputs
    _n_outputs: int  # of the network; more than n_bits_ where a hasher was truncated

    def __init__(
        self,
        module=None,
        n_bits=32,
        *,
        objective="ap",
        prefixes=None,
        affinity="auto",
        image_shape=None,
        channels="auto",
        standardize="auto",
        optimizer="adam",
        learning_rate="auto",
        trunk_learning_rate="auto",
        schedule="cosine",
        weight_decay="auto",
        batch_size="auto",
        max_iter="auto",
        augment="auto",
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=10,
        warm_start=False,
        device="auto",
        output="bits",
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.module = module
        self.n_bits = n_bits
        self.objective = objective
        self.prefixes = prefixes
        self.affinity = affinity
        self.image_shape = image_shape
        self.channels = channels
        self.standardize = standardize
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.trunk_learning_rate = trunk_learning_rate
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.augment = augment
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.device = device
        self.output = output
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the network.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array, Dataset} of shape (n_samples, n_features)
            Training rows, which may be images.
        y : array-like with n_samples rows, default=None
            What `affinity` compares. None: the `y` of the items of a data set, or else `X` itself.

        Returns
        -------
        self : DeepHasher
        """
        check_given(self.objective, self.prefixes, self.n_bits)  # refused before rows are read
        device, random_state = find_device(self.device), check_random_state(self.random_state)
        seed = random_state.randint(np.iinfo(np.int32).max)
        if self._goes_on():
            check_n_bits(self.n_bits, self._n_outputs)
            self._check_rows(X, reset=False)
        X, y, built = self._checked_training_data(X, y)
        with contextlib.ExitStack() as during:
            during.enter_context(seeded(seed, device))
            during.enter_context(torch_threads(self.n_jobs))
            parts = self._start(X, device)
            self._train(parts, X, y, built, device, random_state)
            self._keep_database(X, y)
        return self

    def _validate_params(self) -> None:
        if is_int(self.module):  # as the first argument of all other hashers
            raise InvalidParameterError(
                "module must be None, a torch.nn.Module, or a class or function that makes one. "
                f"Got {self.module} instead. For the length of codes, pass n_bits={self.module}."
            )
        super()._validate_params()

    def _goes_on(self):
        return self.warm_start and hasattr(self, "network_")

    def _start(self, X, device):
        """Return the network as it is before learning."""
        if self._goes_on():
            network = copy.deepcopy(self.network_)
            is_given = isinstance(self.module, torch.nn.Module)
            parts = Parts(network, getattr(network, "trunk", None) if is_given else None)
        else:
            self._inputs.space = self._choose_space(X)
            example = self._inputs.tensor(X, slice(0, _EXAMPLES))
            parts = build(self.module, self.input_shape_, self.n_bits, example)
        parts.network.to(device)
        return parts

    def _choose_space(self, X):
        is_wanted = self.standardize
        if is_wanted == "auto":
            is_wanted = not isinstance(self.module, torch.nn.Module)
        if not is_wanted:
            return None
        layout, moments = self._inputs.layout, moments_of(X)
        return FeatureSpace.of(moments) if layout is None else layout.space(moments)

    def _train(self, parts, X, y, built, device, random_state):
        learned, objective = built
        rows = _compared_rows(X, y) if y is None else y
        relevance = learned_relevance(learned, rows, random_state, self.n_jobs)
        objective.bind(relevance)
        learning = MinibatchLearning(
            objective,
            relevance,
            batch_size=self.batch_size,
            validation_fraction=self.validation_fraction if self.early_stopping else None,
            random_state=random_state,
        )
        self.batch_size_, self.group_size_ = learning.batch_size, learning.group_size
        recipe = choose_recipe(
            self._inputs.layout is not None,
            self.optimizer,
            -(-len(learning.train) // learning.batch_size),
            max_iter=self.max_iter,
            learning_rate=self.learning_rate,
            trunk_learning_rate=self.trunk_learning_rate,
            weight_decay=self.weight_decay,
        )
        self.n_bits_ = self._n_outputs = self.n_bits
        model = NetworkModel(
            parts,
            self._inputs,
            OPTIMIZERS.get(self.optimizer, self.optimizer)(
                parts.groups(recipe.learning_rate, recipe.trunk_learning_rate),
                lr=recipe.learning_rate,
                weight_decay=recipe.weight_decay,
            ),
            self._choose_augmentation(),
            device,
            leaves_trunk=recipe.trunk_learning_rate == 0,
            learning_rate=recipe.learning_rate,
            known={name: getattr(self, name) for name in _KNOWN},
        )
        self.history_ = learning.run(
            model,
            X,
            recipe.max_iter,
            schedule=self.schedule,
            n_iter_no_change=self.n_iter_no_change,
            verbose=self.verbose,
            estimator=self,
            told=(X, y),
        )
        model.check_weights()
        self.n_iter_ = len(self.history_["objective"])
        self.network_ = model.network.eval()

    def _checked_training_data(self, X, y, reset=True, *, is_block=False):
        if isinstance(X, Dataset):
            X = DatasetRows(X)
            y = X.y() if y is None else y
        return super()._checked_training_data(X, y, reset, is_block=is_block)

    def _check_training_data(self, X: Any, y: Any) -> tuple[Any, Any]:
        check_two_rows(self, X)
        self._choose_augmentation()
        rows = _compared_rows(X, y)
        learned = learned_affinity(self.affinity, getattr(self, "affinity_", None), rows, y)
        self.affinity_ = learned.without_database()
        objective = objective_of_rows(self.objective, learned.levels_, y, self.prefixes)
        if not isinstance(objective, OwnLossOfRows):
            objective.check_affinity(learned, is_auto(self.affinity))
            if y is not None or not is_auto(self.affinity):
                check_can_learn(type(self).__name__, learned, rows if y is None else y)
        return learned, objective

    def _most_compared(self) -> int | None:
        return MOST_ROWS if isinstance(self.affinity_, NeighborAffinity) else None

    def _choose_augmentation(self):
        is_name = isinstance(self.augment, str)
        if is_name and self._inputs.layout is None:
            if self.augment == "auto":
                return None
            raise ValueError(
                f"augment={self.augment!r} changes images, and X holds rows of features. Pass a "
                "function, None, or images."
            )
        return AUGMENTATIONS[self.augment] if is_name else self.augment

    def _check_rows(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        """Check rows, images or a data set; images become flat rows, whose layout `fit` notes."""
        X, found = _flat_rows(self, X)
        if not reset:
            self._check_image_shape(found)
        if isinstance(X, DatasetRows):
            checked = validate_data(self, X, reset=reset, skip_check_array=True)
            if y is not None:
                check_consistent_length(X, y)
                checked = checked, y
        else:
            checked = self._validate_rows(X, y, reset, **_ROWS)
        if reset and not self._goes_on():
            self.__dict__.pop("network_", None)  # it knows other rows, should this fit fail
            layout = find_layout(self.n_features_in_, found, self.image_shape, self.channels)
            self._inputs = Inputs(layout, None)
            flat = (self.n_features_in_,)
            self.input_shape_ = flat if layout is None else layout.channels_height_width
        return checked

    def _check_image_shape(self, found):
        layout = self._inputs.layout
        wanted = None if layout is None else layout.shape
        if found is not None and found != wanted:
            rows = f"rows of {self.n_features_in_} features"
            raise ValueError(
                f"this {type(self).__name__} was fitted on "
                f"{rows if wanted is None else f'images of shape {wanted}'}. "
                f"Got images of shape {found}."
            )

    def _project(self, X: Any) -> np.ndarray:
        device = find_device(self.device)
        with torch_threads(self.n_jobs):
            scores = encode(self.network_.to(device), self._inputs, X, device)
        return scores[:, : self.n_bits_]

    def _as_blocks(self, X: Any) -> Any:
        return DatasetRows(X).blocks() if isinstance(X, Dataset) else X

    def relevance(self, X: Any, y: Any = None) -> tuple[Any, Any]:
        """Return the affinity to judge retrieval by, and what it compares.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), images or Dataset
            Rows as this hasher sees them.
        y : array-like with n_samples rows, default=None
            What an affinity compares. None: the `y` of the items of a data set, or else `X` itself,
            for hashers fitted without `y`.

        Returns
        -------
        affinity : "auto" or affinity object
            An unfitted one is to be fitted on the rows of the database.
        y : array-like with n_samples rows
            What it compares.
        """
        if y is None and isinstance(X, Dataset):
            y = DatasetRows(X).y()
        if y is None and not self.fitted_with_y_:
            X = self._check_rows(X, reset=False)
            X = X.to_array() if isinstance(X, DatasetRows) else X
        return super().relevance(X, y)

    def _for_encoding(self) -> "DeepHasher":
        light = super()._for_encoding()
        light.module = None
        return light

    def __getstate__(self) -> dict[str, Any]:
        """State whose networks are on the CPU, so that it can be read where there is no other."""
        state = super().__getstate__()
        for name in ("network_", "module", "objective"):
            network = state.get(name)
            if isinstance(network, torch.nn.Module) and not _is_on_cpu(network):
                state[name] = copy.deepcopy(network).cpu()
        return state

    def _state_to_store(self) -> dict[str, Any]:
        """State for a file: the weights of the network as arrays."""
        state = dict(vars(self))
        state["_weights"] = weights_of(state.pop("network_"))
        return state

    def _check_fitted(self) -> None:
        """Make the network of the weights that were read from a file."""
        weights = self.__dict__.pop("_weights", None)
        if weights is not None:
            self.network_ = rebuild(self.module, self.input_shape_, self._n_outputs, weights)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "network_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def _flat_rows(hasher, X):
    """Rows of numbers, and the shape of an image where X holds images."""
    if isinstance(X, DataLoader):
        raise ValueError(
            "X is a DataLoader, and batches are made here. Pass its data set, X.dataset."
        )
    if torch.is_tensor(X):
        X = as_array(X, "X")
    if isinstance(X, Dataset):
        X = DatasetRows(X)
    if isinstance(X, DatasetRows):
        return X, X.row_shape if len(X.row_shape) > 1 else None
    if isinstance(X, list | tuple):
        with contextlib.suppress(ValueError):  # of rows of different lengths; refused below
            X = np.asarray(X)
    n_axes = getattr(X, "ndim", None)
    if not isinstance(n_axes, int) or n_axes < 3:
        return X, None
    X = check_array(X, allow_nd=True, dtype=_ROWS["dtype"], input_name="X", estimator=hasher)
    return X.reshape(len(X), math.prod(X.shape[1:])), X.shape[1:]


def _compared_rows(X, y):
    """What is compared: the rows of a data set are needed at once where there is no y."""
    return X.to_array() if y is None and isinstance(X, DatasetRows) else X


def _is_on_cpu(network):
    tensors = (*network.parameters(), *network.buffers())
    return all(each.device.type == "cpu" for each in tensors)
