"""The recipe for mteb of the guide to evaluation, as it stands there, on a few texts."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from sklearn_hashrank import RetrievalHistogram

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "evaluate.rst"
CORPUS = ["red apple", "green apple", "blue car", "red car", "pear", "fast train", "slow train"]
QUERIES = ["apple", "car", "train", "pear"]
NOT_SAID = (
    *("date", "domains", "task_subtypes", "license", "annotations_creators", "dialect"),
    *("sample_creation", "bibtex_citation", "reference"),
)
QRELS = {"q0": {"d0": 1, "d1": 2}, "q1": {"d2": 1, "d3": 1}, "q2": {"d5": 1}, "q3": {"d4": 1}}
# mteb and what it imports warn of one another.
pytestmark = pytest.mark.filterwarnings("ignore")


def recipe():
    """Code of the page that evaluates what mteb wrote."""
    text = PAGE.read_text(encoding="utf-8")
    block = re.search(r"\*\*mteb\*\*.*?code-block:: python\n\n(.*?)\n\n?(?=\S)", text, re.S)[1]
    return re.sub(r"^ {4}", "", block, flags=re.M)


def test_the_recipe_runs_on_a_task_without_the_net(tmp_path, monkeypatch):
    mteb = pytest.importorskip("mteb", minversion="2.26", reason="mteb is not installed")
    from datasets import Dataset
    from mteb.abstasks.retrieval import AbsTaskRetrieval
    from mteb.abstasks.task_metadata import TaskMetadata

    class Task(AbsTaskRetrieval):
        metadata = TaskMetadata(
            **dict.fromkeys(NOT_SAID),
            name="SciFact",
            description="A few texts.",
            dataset={"path": "none", "revision": "1"},
            type="Retrieval",
            category="t2t",
            modalities=["text"],
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            main_score="ndcg_at_10",
        )

        def load_data(self, *args, **kwargs):
            corpus = [{"id": f"d{i}", "text": text, "title": ""} for i, text in enumerate(CORPUS)]
            queries = [{"id": f"q{i}", "text": text} for i, text in enumerate(QUERIES)]
            parts = {
                "corpus": Dataset.from_list(corpus),
                "queries": Dataset.from_list(queries),
                "relevant_docs": QRELS,
                "top_ranked": None,
            }
            self.dataset, self.data_loaded = {"default": {"test": parts}}, True

    class Words:
        """Counts words, so that many texts tie."""

        mteb_model_meta = mteb.models.ModelMeta.create_empty(
            overwrites={"name": "own/words", "revision": "1"}
        )

        def encode(self, inputs, **kwargs):
            texts = [text for batch in inputs for text in batch["text"]]
            known = sorted({word for text in CORPUS for word in text.split()})
            return np.array([[text.split().count(word) for word in known] for text in texts], float)

        def similarity(self, a, b):
            import torch

            return torch.as_tensor(a) @ torch.as_tensor(b).T

        similarity_pairwise = similarity

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mteb, "get_task", lambda name: Task())
    monkeypatch.setattr(mteb, "evaluate", without_cache(mteb.evaluate))
    code = recipe()
    *statements, last = code.strip().splitlines()
    names = {"model": Words(), "RetrievalHistogram": RetrievalHistogram}
    exec("\n".join(statements), names)
    value, report = eval(last, names)
    run = json.loads(Path("predictions/SciFact_predictions.json").read_text())["default"]["test"]
    scores = {
        f"q{number}": {f"d{i}": float(query in text.split()) for i, text in enumerate(CORPUS)}
        for number, query in enumerate(QUERIES)
    }
    assert run == scores
    wanted = RetrievalHistogram.from_run(QRELS, scores)
    assert value == pytest.approx(
        wanted.measure("ndcg@10:gain=linear", zero_division=0).mean(), abs=1e-12
    )
    assert report.pessimistic < report.expected < report.optimistic == 1


def without_cache(evaluate):
    """As `evaluate`, but that nothing is looked up in results of other days."""
    return lambda *args, **kwargs: evaluate(*args, cache=None, **kwargs)
