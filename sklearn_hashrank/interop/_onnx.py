"""Convert hashers to ONNX models."""

from typing import Any

import numpy as np

from .._utils.extras import how_to_install, needed
from ..codes._formats import packed_width
from ._folding import fold

_OPSET, _IR_VERSION = 17, 8  # of 2022; newer runtimes read older models
_REDUCTIONS = {"l1": "ReduceL1", "l2": "ReduceL2", "max": "ReduceMax"}


def to_onnx(estimator: Any, *, dtype: Any = np.float32) -> Any:
    """Make an ONNX model that encodes rows. Needs the extra ``onnx``.

    Affine steps before the hasher are folded into its hyperplanes, so that the model is one matrix
    product and a comparison. Rows that a Normalizer divides by their lengths are divided in the
    model, too. Codes are those of ``transform``, except in rows that lie on a hyperplane within the
    rounding of `dtype`. In float32 that is a distance of about ``1e-6 * sum(abs(x * w))``. Where
    features are far from zero compared with their deviations, this sum is large: pass
    ``dtype=numpy.float64`` then.

    Parameters
    ----------
    estimator : estimator
        A fitted linear hasher, or a pipeline or search that ends in one. Accepted before it are
        StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PCA, IncrementalPCA, TruncatedSVD
        and Normalizer.
    dtype : {numpy.float32, numpy.float64}, default=numpy.float32
        Type of the input, and of the arithmetic.

    Returns
    -------
    model : onnx.ModelProto
        Input ``X`` of shape (n, n_features) and `dtype`; output ``codes``, what ``transform``
        gives: uint8 bits or packed bytes, or int8 signs, by the hasher's `output`.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn_hashrank import LSHHasher
    >>> from sklearn_hashrank.interop import to_onnx
    >>> X = np.random.default_rng(0).normal(size=(100, 8)).astype(np.float32)
    >>> pipeline = make_pipeline(PCA(4), LSHHasher(16, output="packed", random_state=0)).fit(X)
    >>> model = to_onnx(pipeline)
    >>> session = onnxruntime.InferenceSession(model.SerializeToString())
    >>> codes = session.run(["codes"], {"X": X[:2]})[0]
    >>> bool((codes == pipeline.transform(X[:2])).all())
    True
    """
    with needed(how_to_install("onnx")):
        import onnx
        from onnx import TensorProto, helper
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype must be numpy.float32 or numpy.float64. Got {dtype} instead.")
    folded = fold(estimator)
    nodes: list[Any] = []
    constants: dict[str, np.ndarray] = {}

    def add(operator: str, *inputs: Any, **attributes: Any) -> str:
        """Add a node, and arrays among its inputs as constants; return the name of its output."""
        names = []
        for each in inputs:
            if isinstance(each, np.ndarray):
                constants[f"constant_{len(constants)}"] = each
                each = f"constant_{len(constants) - 1}"
            names.append(each)
        output = f"{operator}_{len(nodes)}"
        nodes.append(helper.make_node(operator, names, [output], **attributes))
        return output

    def add_affine(rows: str, components: np.ndarray, intercept: np.ndarray) -> str:
        matrix = np.ascontiguousarray(components.T, dtype=dtype)
        return add("Add", add("MatMul", rows, matrix), intercept.astype(dtype))

    rows = "X"
    for affine, norm in folded.normalizations:
        if affine is not None:
            rows = add_affine(rows, *affine)
        sizes = add("Abs", rows) if norm == "max" else rows
        lengths = add(_REDUCTIONS[norm], sizes, axes=[1], keepdims=1)
        # Normalizer leaves rows of a shorter length as they are, as it does rows of zeros.
        is_short = add("Less", lengths, np.full(1, 10 * np.finfo(dtype).eps, dtype))
        rows = add("Div", rows, add("Where", is_short, np.ones(1, dtype), lengths))
    components, intercept = folded.hyperplanes
    n_columns = n_bits = len(intercept)
    if folded.output == "packed":  # hyperplanes of zeros fill up the last byte: zero is bit 0
        n_columns = packed_width(n_bits)
        n_pad = 8 * n_columns - n_bits
        components, intercept = (
            np.pad(components, ((0, n_pad), (0, 0))),
            np.pad(intercept, (0, n_pad)),
        )
    is_one = add("Greater", add_affine(rows, components, intercept), np.zeros(1, dtype))
    code_type = TensorProto.UINT8
    if folded.output == "bits":
        values = is_one
    elif folded.output == "signs":
        code_type = TensorProto.INT8
        twice = add("Mul", add("Cast", is_one, to=TensorProto.INT32), np.array([2], np.int32))
        values = add("Sub", twice, np.array([1], np.int32))
    else:
        powers = 2.0 ** np.arange(7, -1, -1, dtype=np.float32)
        of_bytes = np.kron(np.eye(n_columns, dtype=np.float32), powers[:, None])
        values = add("MatMul", add("Cast", is_one, to=TensorProto.FLOAT), of_bytes)
    nodes.append(helper.make_node("Cast", [values], ["codes"], to=code_type))
    row_type = helper.np_dtype_to_tensor_dtype(dtype)
    graph = helper.make_graph(
        nodes,
        "hasher",
        [helper.make_tensor_value_info("X", row_type, [None, folded.n_features])],
        [helper.make_tensor_value_info("codes", code_type, [None, n_columns])],
        [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="sklearn-hashrank",
    )
    onnx.checker.check_model(model)
    return model
