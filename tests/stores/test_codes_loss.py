"""Sentence encoders that are trained for their binary embeddings."""

import numpy as np
import pytest
import torch
from datasets import Dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, StaticEmbedding
from tokenizers import Tokenizer, models, pre_tokenizers

from sklearn_hashrank.codes import truncate_codes
from sklearn_hashrank.deep import TieAwareLoss
from sklearn_hashrank.interop import sentence_transformers_loss
from sklearn_hashrank.metrics import tie_aware_average_precision_score
from sklearn_hashrank.objectives import AveragePrecision, HashNet

N_WORDS, N_CLASSES, N_FEATURES = 60, 5, 24


def texts(n, seed):
    """Texts of a class share some words, among many that they do not share."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, N_CLASSES, n)
    rows = [
        " ".join(
            f"word{word}"
            for word in [*(4 * label + rng.integers(0, 4, 3)), *rng.integers(20, N_WORDS, 6)]
        )
        for label in labels
    ]
    return rows, labels


def text_model(seed=0):
    words = {f"word{i}": i for i in range(N_WORDS)} | {"[UNK]": N_WORDS}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    weights = np.random.default_rng(seed).normal(size=(len(words), N_FEATURES))
    embedding = StaticEmbedding(tokenizer, embedding_weights=weights.astype(np.float32))
    return SentenceTransformer(modules=[embedding, Normalize()], device="cpu")


def train(model, loss, columns, folder, **options):
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=64,
        learning_rate=0.02,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        seed=0,
        use_cpu=True,
        **{"num_train_epochs": 5, "batch_sampler": "group_by_label", **options},
    )
    SentenceTransformerTrainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_dict(columns),
        loss=loss,
        callbacks=[loss.callback],
    ).train()


def score(model, rows, labels, n_bits=N_FEATURES):
    codes = model.encode(rows, precision="ubinary", truncate_dim=n_bits)
    return tie_aware_average_precision_score(labels, codes, n_bits=n_bits)


class Given(torch.nn.Module):
    """Gives embeddings that are passed in place of texts."""

    def __init__(self, width=6):
        super().__init__()
        self.width = width

    def forward(self, features):
        return {"sentence_embedding": features["numbers"]}

    def get_embedding_dimension(self):
        return self.width


def numbers(n=12, seed=0):
    random = torch.Generator().manual_seed(seed)
    return torch.randn(n, 6, generator=random, requires_grad=True)


LABELS = torch.arange(12) % 3


def of_numbers(loss, *columns, labels=LABELS):
    return loss([{"numbers": column} for column in columns], labels)


def steepness(loss):
    objective = loss.loss.objective
    return getattr(objective, "objective", objective)._annealed_alpha


@pytest.mark.learning
def test_training_makes_better_codes_and_prefixes(tmp_path):
    rows, labels = texts(600, 0)
    held_out, of_held_out = texts(300, 1)
    model = text_model()
    before = [score(model, held_out, of_held_out, n) for n in (8, 24)]
    loss = sentence_transformers_loss(model, prefixes=(8, 24))
    train(model, loss, {"text": rows, "label": labels.tolist()}, tmp_path)
    after = [score(model, held_out, of_held_out, n) for n in (8, 24)]
    assert after[0] > before[0] + 0.15
    assert after[1] > before[1] + 0.15
    assert steepness(loss) == pytest.approx(4.0)  # of the last step
    codes = model.encode(held_out, precision="ubinary")
    embeddings = model.encode(held_out)
    np.testing.assert_array_equal(codes, np.packbits(embeddings > 0, axis=1))
    short = model.encode(held_out, precision="ubinary", truncate_dim=8)
    np.testing.assert_array_equal(short, truncate_codes(codes, 8))
    signed = model.encode(held_out, precision="binary")
    np.testing.assert_array_equal(signed.view(np.uint8) ^ 128, codes)
    model.save(str(tmp_path / "model"))
    again = SentenceTransformer(str(tmp_path / "model"), device="cpu")
    np.testing.assert_array_equal(again.encode(held_out, precision="ubinary"), codes)


@pytest.mark.learning
def test_texts_that_belong_together_need_no_labels(tmp_path):
    rows, labels = texts(800, 0)
    held_out, of_held_out = texts(300, 1)
    order = np.argsort(labels, kind="stable")
    pairs = order[: len(order) // 2 * 2].reshape(-1, 2)
    columns = {
        "anchor": [rows[i] for i, _ in pairs],
        "positive": [rows[j] for _, j in pairs],
    }
    model = text_model()
    before = score(model, held_out, of_held_out)
    loss = sentence_transformers_loss(model)
    train(model, loss, columns, tmp_path, batch_sampler="no_duplicates")
    assert score(model, held_out, of_held_out) > before + 0.02


def test_the_loss_is_that_of_rows_of_one_length():
    """With as many numbers as bits count; the scale of a row changes no bit, and no loss."""
    scores, loss = numbers(), sentence_transformers_loss(Given(), AveragePrecision())
    unit = torch.nn.functional.normalize(scores, dim=1) * np.sqrt(6)
    assert torch.isclose(of_numbers(loss, scores), TieAwareLoss()(unit, LABELS))
    scales = torch.linspace(0.1, 9, 12)[:, None]
    assert torch.isclose(of_numbers(loss, scores), of_numbers(loss, scores * scales), atol=1e-5)
    first = sentence_transformers_loss(Given(), AveragePrecision(), n_bits=4)
    cut = torch.nn.functional.normalize(scores[:, :4], dim=1) * 2
    assert torch.isclose(of_numbers(first, scores), TieAwareLoss()(cut, LABELS))
    of_numbers(first, scores).backward()
    assert not scores.grad[:, 4:].any()
    assert scores.grad[:, :4].any()
    half = of_numbers(loss, scores.bfloat16())
    assert torch.isclose(half.float(), of_numbers(loss, scores), atol=0.05)


def test_columns_that_belong_together():
    loss = sentence_transformers_loss(Given(), AveragePrecision())
    columns = [numbers(5, seed) for seed in range(4)]
    n = torch.arange(5)
    labels = torch.cat([n, n, n + 5, n + 10])
    expected = of_numbers(loss, torch.cat(columns), labels=labels)
    assert torch.isclose(of_numbers(loss, *columns, labels=None), expected)


def test_steepness_grows_with_progress():
    loss = sentence_transformers_loss(Given(), AveragePrecision(alpha=1.0, alpha_end=4.0))
    loss.anneal(0.5)
    assert steepness(loss) == pytest.approx(2.0)
    scores = numbers()
    at_end = sentence_transformers_loss(Given(), AveragePrecision(alpha=4.0))
    assert not torch.isclose(of_numbers(loss, scores), of_numbers(at_end, scores))
    loss.anneal(1.0)
    assert torch.isclose(of_numbers(loss, scores), of_numbers(at_end, scores))
    by_default = sentence_transformers_loss(Given()).loss.objective
    assert by_default.alpha_end > by_default.alpha == 2.0
    own = sentence_transformers_loss(Given(), AveragePrecision(alpha=5.0), prefixes=(2, 6))
    assert own.loss.objective.objective.alpha == 5.0
    with pytest.warns(UserWarning, match=r"Pass callbacks=\[loss.callback\] to the trainer"):
        of_numbers(sentence_transformers_loss(Given()), numbers())


def test_what_the_card_of_a_model_says():
    loss = sentence_transformers_loss(Given(), "ndcg", prefixes=(2, 6))
    assert "NDCG" in loss.get_config_dict()["objective"]
    assert loss.get_config_dict()["n_bits"] == 6
    assert "Tie-Aware" in loss.citation


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bits": 7}, "n_bits must be an int from 1 to 6, the numbers of an embedding. Got 7"),
        ({"n_bits": True}, "n_bits must be an int from 1 to 6"),
        ({"prefixes": (3, 9)}, r"from 1 to n_bits = 6. Got \(3, 9\)"),
        ({"prefixes": (3, 5), "n_bits": 4}, r"from 1 to n_bits = 4. Got \(3, 5\)"),
        ({"objective": "best"}, "'objective' parameter of TieAwareLoss must be"),
    ],
)
def test_wrong_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        sentence_transformers_loss(Given(), **options)


def test_wrong_data_sets():
    loss = sentence_transformers_loss(Given(), AveragePrecision())
    with pytest.raises(ValueError, match="model must be a SentenceTransformer, .* Got 8"):
        sentence_transformers_loss(8)
    with pytest.raises(ValueError, match="one column of texts needs a column of labels"):
        of_numbers(loss, numbers(), labels=None)
    with pytest.raises(ValueError, match="several columns .* has none. Got 2 columns and labels"):
        of_numbers(loss, numbers(), numbers())
    with pytest.raises(ValueError, match=r"equally many rows. Got \[12, 5\]"):
        of_numbers(loss, numbers(), numbers(5), labels=None)
    with pytest.raises(ValueError, match="embeddings must have at least n_bits = 6 numbers. Got 4"):
        of_numbers(loss, numbers()[:, :4])


def test_a_module_for_codes_of_another_length(tmp_path):
    rows, labels = texts(200, 0)
    model = text_model()
    model.append(Dense(N_FEATURES, 40, activation_function=torch.nn.Identity()))
    loss = sentence_transformers_loss(model, HashNet())
    train(model, loss, {"text": rows, "label": labels.tolist()}, tmp_path, num_train_epochs=1)
    assert model.encode(rows[:3], precision="ubinary").shape == (3, 5)
