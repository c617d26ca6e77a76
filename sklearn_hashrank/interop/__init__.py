"""Convert hashers to models of other libraries, and evaluate rankings in them."""

from ._faiss import to_faiss_index
from ._ir_measures import register_ir_measures
from ._onnx import to_onnx
from ._retrieval_evaluator import tie_aware_evaluator
from ._sentence_transformers import sentence_transformers_loss, to_sentence_transformers

__all__ = [
    "register_ir_measures",
    "sentence_transformers_loss",
    "tie_aware_evaluator",
    "to_faiss_index",
    "to_onnx",
    "to_sentence_transformers",
]
