"""The public names, in the order of the API reference.

One list serves the pages of the reference and the tests that read every docstring. A new public
name gets its line here; a test misses it otherwise.
"""

from pathlib import Path
from typing import NamedTuple


class Section(NamedTuple):
    """A section of the reference: names of one module that belong together."""

    title: str
    module: str
    names: tuple[str, ...]
    text: str = ""


SECTIONS = (
    Section(
        "Hashers",
        "sklearn_hashrank",
        ("TALRLinear", "RSHHasher", "LWHHasher"),
        "Estimators that learn codes from relevance.",
    ),
    Section(
        "Baselines",
        "sklearn_hashrank",
        ("LSHHasher", "PCAHasher", "ITQHasher"),
        "The yardsticks every learned hasher is compared with; see :ref:`baselines`.",
    ),
    Section(
        "Retrieval histogram",
        "sklearn_hashrank",
        ("retrieval_histogram", "RetrievalHistogram"),
        "Counts by query, level and distance, and every measure of them; see :ref:`evaluation`.",
    ),
    Section(
        "Metrics",
        "sklearn_hashrank.metrics",
        (
            "tie_aware_average_precision_score",
            "tie_aware_ndcg_score",
            "tie_aware_dcg_score",
            "tie_aware_precision_score",
            "tie_aware_recall_score",
            "tie_aware_f1_score",
            "tie_aware_reciprocal_rank_score",
        ),
        "Exact means over all orders of tied items, with bounds; see :ref:`evaluation`.",
    ),
    Section(
        "Scorers",
        "sklearn_hashrank.metrics",
        ("make_retrieval_scorer", "get_retrieval_scorer", "get_retrieval_scorer_names"),
        "For cross-validation and searches; see :ref:`model_selection`.",
    ),
    Section(
        "Model selection",
        "sklearn_hashrank.model_selection",
        (
            "cross_validate_retrieval",
            "PerClassRetrievalSplit",
            "RandomRetrievalSplit",
            "cifar10_split",
            "RetrievalSplit",
            "RetrievalKFold",
        ),
        "Training rows, queries and database; see :ref:`model_selection`.",
    ),
    Section(
        "Comparison",
        "sklearn_hashrank.comparison",
        ("compare", "Comparison", "RunResult", "method_from_name", "measure_codes"),
        "Methods, code lengths and seeds under one protocol; see :ref:`cli`.",
    ),
    Section(
        "Affinities",
        "sklearn_hashrank",
        (
            "LabelAffinity",
            "SharedLabelAffinity",
            "HierarchicalAffinity",
            "EuclideanAffinity",
            "PrecomputedAffinity",
        ),
        "How relevant a database item is to a query; see :ref:`affinities`.",
    ),
    Section(
        "Tools for affinities",
        "sklearn_hashrank.affinity",
        ("BaseAffinity", "auto_affinity", "fit_affinity"),
    ),
    Section(
        "Codes",
        "sklearn_hashrank.codes",
        ("pack_codes", "unpack_codes", "hamming_distances"),
        "Packing, formats, Hamming distance.",
    ),
    Section(
        "Base classes",
        "sklearn_hashrank.base",
        ("BaseHasher", "LinearHasher"),
        "What a new hasher stands on; see :ref:`add_a_hasher`.",
    ),
    Section(
        "Objectives",
        "sklearn_hashrank.objectives",
        ("Objective", "Ties", "TieValues", "BatchObjective", "SoftHistogram"),
        "Smooth functions of soft histograms; see :ref:`add_an_objective`.",
    ),
    Section(
        "Solvers",
        "sklearn_hashrank.solvers.alm",
        ("minimize_orthogonal", "OrthogonalSolution"),
    ),
)


def write_pages(path: Path) -> None:
    """Write the reference in reStructuredText; autosummary makes a page for every name."""
    lines = [".. _api:", "", "=============", "API reference", "=============", ""]
    for title, module, names, text in SECTIONS:
        lines += [title, "=" * len(title), ""]
        lines += [text, ""] if text else []
        lines += [f".. currentmodule:: {module}", "", ".. autosummary::", "   :toctree: generated"]
        lines += ["   :nosignatures:", "", *(f"   {name}" for name in names), ""]
    content = "\n".join(lines)
    if not path.exists() or path.read_text() != content:
        path.write_text(content)
