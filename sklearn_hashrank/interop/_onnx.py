"""Convert hashers to ONNX models."""

from typing import Any, NamedTuple

import numpy as np

from .._features.space import Hyperplanes
from .._utils.extras import how_to_install, needed
from ..codes._formats import packed_width
from ._folding import Folded, check_dtype, fold, least_length

_OPSET, _IR_VERSION = 17, 8  # of 2022; newer runtimes read older models
_REDUCTIONS = {"l1": "ReduceL1", "l2": "ReduceL2", "max": "ReduceMax"}
_NUMBERS = {np.float32: 1, np.uint8: 2, np.int8: 3, np.int32: 6}  # types, as onnx counts them


class _Node(NamedTuple):
    operator: str
    inputs: list[str]
    output: str
    attributes: dict[str, Any] = {}


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
    dtype = check_dtype(dtype)
    folded = fold(estimator)
    hyperplanes, output, _ = folded
    constants, nodes, source = _normalizing(folded, dtype, "X")
    of_codes, encoding = _graph(hyperplanes, output, dtype, source, "codes")
    constants, nodes = constants | of_codes, nodes + encoding
    as_type = onnx.helper.np_dtype_to_tensor_dtype
    n_bits = len(hyperplanes.intercept_)
    n_columns = packed_width(n_bits) if output == "packed" else n_bits
    code_type = np.dtype(np.int8 if output == "signs" else np.uint8)
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node(node.operator, node.inputs, [node.output], **node.attributes)
            for node in nodes
        ],
        "hasher",
        [onnx.helper.make_tensor_value_info("X", as_type(dtype), [None, folded.n_features])],
        [onnx.helper.make_tensor_value_info("codes", as_type(code_type), [None, n_columns])],
        [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = onnx.helper.make_model(
        graph,
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="sklearn-hashrank",
    )
    onnx.checker.check_model(model)
    return model


def _normalizing(
    folded: Folded, dtype: np.dtype, source: str
) -> tuple[dict[str, np.ndarray], list[_Node], str]:
    """Constants and nodes that normalise rows `source`, and the name of the result."""
    constants, nodes = {}, []
    over_columns = {"axes": [1], "keepdims": 1}
    for number, (affine, norm) in enumerate(folded.normalizations):
        if affine is not None:
            matrix, offset = f"matrix_{number}", f"offset_{number}"
            constants[matrix] = np.ascontiguousarray(affine.components_.T, dtype=dtype)
            constants[offset] = affine.intercept_.astype(dtype)
            nodes.append(_Node("MatMul", [source, matrix], f"mapped_{number}"))
            nodes.append(_Node("Add", [f"mapped_{number}", offset], f"rows_{number}"))
            source = f"rows_{number}"
        length, sizes = f"length_{number}", source
        if norm == "max":
            sizes = f"sizes_{number}"
            nodes.append(_Node("Abs", [source], sizes))
        nodes.append(_Node(_REDUCTIONS[norm], [sizes], length, over_columns))
        constants["least_length"] = np.full(1, least_length(dtype), dtype=dtype)
        constants["unit"] = np.ones(1, dtype=dtype)
        nodes.append(_Node("Less", [length, "least_length"], f"is_short_{number}"))
        nodes.append(_Node("Where", [f"is_short_{number}", "unit", length], f"divisor_{number}"))
        nodes.append(_Node("Div", [source, f"divisor_{number}"], f"unit_rows_{number}"))
        source = f"unit_rows_{number}"
    return constants, nodes, source


def _graph(
    hyperplanes: Hyperplanes, output: str, dtype: np.dtype, source: str, target: str
) -> tuple[dict[str, np.ndarray], list[_Node]]:
    """Constants and nodes that make codes `target` of rows `source`."""
    normals, intercept = hyperplanes
    n_bits = len(normals)
    if output == "packed":  # hyperplanes of zeros fill up the last byte: zero is bit 0
        n_pad = 8 * packed_width(n_bits) - n_bits
        normals, intercept = np.pad(normals, ((0, n_pad), (0, 0))), np.pad(intercept, (0, n_pad))
    constants = {
        "normals": np.ascontiguousarray(normals.T, dtype=dtype),
        "intercept": intercept.astype(dtype),
        "zero": np.zeros(1, dtype=dtype),
    }
    nodes = [
        _Node("MatMul", [source, "normals"], "products"),
        _Node("Add", ["products", "intercept"], "projections"),
        _Node("Greater", ["projections", "zero"], "is_one"),
    ]
    if output == "bits":
        return constants, [*nodes, _Node("Cast", ["is_one"], target, {"to": _NUMBERS[np.uint8]})]
    if output == "signs":
        constants |= {"two": np.array([2], np.int32), "one": np.array([1], np.int32)}
        return constants, [
            *nodes,
            _Node("Cast", ["is_one"], "bits", {"to": _NUMBERS[np.int32]}),
            _Node("Mul", ["bits", "two"], "doubled"),
            _Node("Sub", ["doubled", "one"], "signs"),
            _Node("Cast", ["signs"], target, {"to": _NUMBERS[np.int8]}),
        ]
    powers = 2.0 ** np.arange(7, -1, -1, dtype=np.float32)
    constants["powers"] = np.kron(np.eye(packed_width(n_bits), dtype=np.float32), powers[:, None])
    return constants, [
        *nodes,
        _Node("Cast", ["is_one"], "bits", {"to": _NUMBERS[np.float32]}),
        _Node("MatMul", ["bits", "powers"], "bytes"),
        _Node("Cast", ["bytes"], target, {"to": _NUMBERS[np.uint8]}),
    ]
