"""Hashers in ONNX, sentence-transformers and skops give the codes of ``transform``."""

import numpy as np
import onnx
import onnxruntime
import pytest
import skl2onnx
import skops.io
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from sentence_transformers.util import quantize_embeddings
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from tokenizers import Tokenizer, models, pre_tokenizers

from sklearn_hashrank import LSHHasher
from sklearn_hashrank.codes import pack_codes
from sklearn_hashrank.codes._formats import FORMATS
from sklearn_hashrank.interop import to_onnx, to_sentence_transformers
from tests.interop.exported import (
    DATA,
    ESTIMATORS,
    OTHER_NORMS,
    check_codes,
    fitted,
    near_a_hyperplane,
    rows_of,
)

every_estimator = pytest.mark.parametrize("name", ESTIMATORS)
every_norm = pytest.mark.parametrize("name", ESTIMATORS | OTHER_NORMS)
every_data_set = pytest.mark.parametrize("data", DATA)


def run(model, X):
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (name,) = (each.name for each in session.get_inputs())
    return session.run(None, {name: X})[0]


@every_data_set
@every_norm
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_onnx_gives_the_codes_of_transform(name, data, dtype):
    rows, _ = rows_of(data)
    for output in FORMATS:
        estimator = fitted(name, data, output)
        is_near = near_a_hyperplane(estimator, rows)
        model = to_onnx(estimator, dtype=dtype)
        check_codes(run(model, rows.astype(dtype)), estimator.transform(rows), is_near)
        assert run(model, rows[:1].astype(dtype)).shape[0] == 1
        assert run(model, rows[:0].astype(dtype)).shape[0] == 0
        zeros = np.zeros((1, rows.shape[1]))
        np.testing.assert_array_equal(run(model, zeros.astype(dtype)), estimator.transform(zeros))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_onnx_leaves_rows_that_are_too_short_to_normalize(dtype):
    X = np.random.default_rng(0).normal(size=(50, 6)).astype(dtype)
    unit = X / np.abs(X).sum(axis=1, keepdims=True)
    rows = [X, *(unit * (times * np.finfo(dtype).eps) for times in (1e-3, 1, 9, 30, 1000))]
    rows = np.concatenate(rows).astype(dtype)
    for norm in ("l1", "l2", "max"):
        pipeline = make_pipeline(Normalizer(norm), LSHHasher(30, random_state=0)).fit(X + 1)
        differ = run(to_onnx(pipeline, dtype=dtype), rows) != pipeline.transform(rows)
        assert not (differ & (np.abs(pipeline.decision_function(rows)) > 1e-5)).any()


def test_an_onnx_model_has_one_input_and_one_output(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32)
    hasher = LSHHasher(12, output="packed", random_state=0).fit(X)
    onnx.save(to_onnx(hasher), tmp_path / "hasher.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "hasher.onnx")
    ((source,), (target,)) = session.get_inputs(), session.get_outputs()
    assert (source.name, source.type, source.shape[1]) == ("X", "tensor(float)", 6)
    assert (target.name, target.type, target.shape[1]) == ("codes", "tensor(uint8)", 2)


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_float64_is_for_features_far_from_zero(offset):
    """Where float32 loses bits of the features themselves, and of their projections."""
    X = np.random.default_rng(0).normal(size=(2000, 20)) + offset
    hasher = LSHHasher(32, random_state=0).fit(X)
    codes = hasher.transform(X)
    np.testing.assert_array_equal(run(to_onnx(hasher, dtype=np.float64), X), codes)
    differ = (run(to_onnx(hasher), X.astype(np.float32)) != codes).any(axis=1).mean()
    assert differ < 0.001 if offset == 0 else differ > 0.001


def test_steps_that_skl2onnx_knows_come_before():
    texts = [f"word{i % 7} other{i % 3} thing{i % 5}" for i in range(40)]
    pipeline = make_pipeline(
        TfidfVectorizer(lowercase=False), LSHHasher(16, output="packed", random_state=0)
    )
    pipeline.fit(texts)
    # steps of skl2onnx: begin
    form = [("texts", skl2onnx.common.data_types.StringTensorType([None, 1]))]
    before = skl2onnx.to_onnx(pipeline[:-1], initial_types=form, target_opset=17)
    joint = [(before.graph.output[0].name, "X")]
    model = onnx.compose.merge_models(before, to_onnx(pipeline[-1]), io_map=joint)
    # steps of skl2onnx: end
    found = run(model, np.array(texts)[:, None])
    np.testing.assert_array_equal(found, pipeline.transform(texts))


@every_data_set
@every_estimator
def test_sentence_transformers_gives_the_codes_of_transform(name, data):
    rows, _ = rows_of(data)
    estimator = fitted(name, data, "packed")
    codes = estimator.transform(rows)
    features = {"sentence_embedding": torch.from_numpy(rows.astype(np.float32))}
    for module in to_sentence_transformers(estimator):
        features = module(features)
    embeddings = features["sentence_embedding"].detach()
    is_near = near_a_hyperplane(estimator, rows)
    check_codes(quantize_embeddings(embeddings, "ubinary"), codes, is_near)
    signed = (codes ^ 128).view(np.int8)
    check_codes(quantize_embeddings(embeddings, "binary"), signed, is_near)


def text_model(n_features=24):
    """A static embedding of a few words, as no model can be downloaded here."""
    words = {f"word{i}": i for i in range(40)} | {"[UNK]": 40}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    weights = np.random.default_rng(0).normal(size=(len(words), n_features)).astype(np.float32)
    return SentenceTransformer(
        modules=[StaticEmbedding(tokenizer, embedding_weights=weights)], device="cpu"
    )


def test_a_model_encodes_texts_to_codes(tmp_path):
    rng = np.random.default_rng(0)
    texts = [" ".join(f"word{i}" for i in rng.integers(0, 40, 6)) for _ in range(300)]
    model = text_model()
    embeddings = model.encode(texts)
    # hasher of a model: begin
    hasher = make_pipeline(Normalizer(), LSHHasher(20, output="packed", random_state=0))
    hasher.fit(embeddings)
    model.extend(to_sentence_transformers(hasher))
    codes = model.encode(texts, precision="ubinary")
    # hasher of a model: end
    np.testing.assert_array_equal(codes, hasher.transform(embeddings))
    model.save(str(tmp_path / "model"))
    loaded = SentenceTransformer(str(tmp_path / "model"), device="cpu")
    signed = loaded.encode(texts, precision="binary")
    np.testing.assert_array_equal(signed.view(np.uint8) ^ 128, codes)


@pytest.mark.parametrize("output", FORMATS)
def test_skops_keeps_hashers(tmp_path, output):
    X, _ = rows_of("digits")
    pipeline = fitted("TALR after a whitening PCA", "digits", output)
    # pipeline in skops: begin
    skops.io.dump(pipeline, tmp_path / "hasher.skops")
    trusted = skops.io.get_untrusted_types(file=tmp_path / "hasher.skops")
    loaded = skops.io.load(tmp_path / "hasher.skops", trusted=trusted)
    # pipeline in skops: end
    assert all(name.startswith("sklearn_hashrank.") for name in trusted)
    np.testing.assert_array_equal(loaded.transform(X), pipeline.transform(X))
    assert pack_codes(loaded.transform(X), 16).shape == (len(X), 2)
