"""Convert codes to the formats of other programs, and hashers to models of other libraries."""

from ._bit_strings import from_bit_strings, from_bytes, to_bit_strings, to_bytes
from ._faiss import from_faiss, to_faiss, to_faiss_index
from ._ir_measures import register_ir_measures
from ._numpy_source import to_numpy_source
from ._onnx import register_skl2onnx, to_onnx
from ._retrieval_evaluator import tie_aware_evaluator
from ._sentence_transformers import sentence_transformers_loss, to_sentence_transformers

__all__ = [
    "from_bit_strings",
    "from_bytes",
    "from_faiss",
    "register_ir_measures",
    "register_skl2onnx",
    "sentence_transformers_loss",
    "tie_aware_evaluator",
    "to_bit_strings",
    "to_bytes",
    "to_faiss",
    "to_faiss_index",
    "to_numpy_source",
    "to_onnx",
    "to_sentence_transformers",
]
