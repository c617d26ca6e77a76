"""What the parameters and attributes of hashers that learn from minibatches mean, written once."""

from .._utils.docs import documented_by

_SOLVER = """
solver : {{"adam", "adam-by-bit", "sgd"}}, default="{default}"
    Adam; Adam with one mean square of the gradient for all weights of a bit, which suits principal
    components, because small ones do not move as far as large ones; or stochastic gradient ascent
    with momentum."""

_BATCHES = """
batch_size : int or "auto", default="auto"
    Rows of a minibatch, at most all of them, sampled at random. ``"auto"`` is 256, and up to 2048
    where relevant items are rare: a query should find about ten of them in its batch, and for
    graded objectives one of those that hold most of the gain. Where they are rare because there
    are many classes or label paths, it is 512, in groups of about 4 rows of a class or path.
    Where nearest rows are relevant, batches are made of rows with some of their neighbours, and
    ``"auto"`` is 512."""

_STEPS = """
learning_rate : float or "auto", default="auto"
    Length of a step at the start. ``"auto"`` is 0.01 for Adam, 0.02 where batches are made of
    groups and for Adam by bit, but 0.003 for both where nearest rows are relevant; for SGD 1, but
    0.03 on squared distances and on products of projections, whose slopes have no bound.
schedule : {"constant", "step", "cosine"}, default="cosine"
    How the length of a step falls during `max_iter` passes.
weight_decay : float or "auto", default="auto"
    Share of the weights that a step takes away at the start; it falls with `schedule`. Few
    rows of many features want more of it: ``"auto"`` is 0.15 times the root of the number of
    features per training row, at most 0.15, and 0.05 in :meth:`partial_fit`; 0 where nearest rows
    are relevant.
momentum : float, default=0.9
    Share of the last move that ``solver="sgd"`` keeps."""

documented = documented_by(
    {
        "n_bits": """
n_bits : int, default=32
    Length of a code. It may exceed the number of features.""",
        "affinity": """
affinity : "auto" or affinity object, default="auto"
    How `y` says what is relevant; see :mod:`sklearn_hashrank.affinity`. ``"auto"`` without `y`
    learns from the nearest rows, and judges by distances; see :ref:`unlabelled`.""",
        "solver": _SOLVER.format(default="adam"),
        "solver_by_bit": _SOLVER.format(default="adam-by-bit"),
        "batches": _BATCHES,
        "steps": _STEPS,
        "ascent": f"""{_BATCHES}
max_iter : int, default=60
    Most passes over the training rows.{_STEPS}""",
        "end": """
early_stopping : bool, default=False
    Whether to keep part of the training rows for validation, to return the weights that were
    best, and to stop after `n_iter_no_change` passes without a better one. Validation looks at
    the tie-aware measure that the objective names, as ``"ap"`` and ``"ndcg"`` do, or else at the
    objective of the validation rows among themselves.
validation_fraction : float, default=0.1
    Share of the rows kept for validation.
n_iter_no_change : int, default=10
    Passes to wait for a better validation.
warm_start : bool, default=False
    Whether :meth:`fit` starts from the weights of the last fit.
output : {"bits", "signs", "packed"}, default="bits"
    Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
random_state : int, RandomState instance or None, default=None
    Samples the start, the minibatches and the validation rows.
n_jobs : int or None, default=None
    Threads over the rows of large batches. None means 1 unless in a
    :obj:`joblib.parallel_config` context, -1 means all processors. The result does not depend on
    it. An objective that is an object has an `n_jobs` of its own.
verbose : int, default=0
    Print a line every `verbose` passes.""",
        "attributes": """
components_ : ndarray of shape (n_bits, n_features)
    Normal vectors of the hyperplanes.
intercept_ : ndarray of shape (n_bits,)
    Their offsets.
affinity_ : affinity object
    The fitted affinity.
history_ : dict of list
    For each pass the mean ``"objective"`` over the minibatches, the ``"learning_rate"`` at its
    end, and the ``"validation"`` where `early_stopping` is on.
n_iter_ : int
    Passes done.
batch_size_ : int
    Rows of a minibatch.
codes_ : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
    Packed codes of the training rows; not after :meth:`partial_fit`.
y_ : array-like
    `y` of the training rows; absent where it was None, and after :meth:`partial_fit`.
n_features_in_ : int
    Number of features seen during fit.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of the features, when `X` has string column names.""",
    }
)
