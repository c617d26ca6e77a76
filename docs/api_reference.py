"""The public names, in the order of the API reference.

One list serves the pages of the reference and the tests that read every docstring. A new public
name gets its line here; a test misses it otherwise.
"""

from pathlib import Path
from typing import NamedTuple

from sklearn_hashrank.metrics import _lookup_metrics, _ranking_metrics


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
        (
            "TALRLinear",
            "RSHHasher",
            "LWHHasher",
            "DispersionHasher",
            "FastHasher",
            "MACHasher",
            "StructHasher",
        ),
        "Estimators that learn codes from relevance.",
    ),
    Section(
        "Baselines",
        "sklearn_hashrank",
        ("SignHasher", "LSHHasher", "PCAHasher", "ITQHasher", "ClassifierHasher"),
        "The baselines every learned hasher is compared with; see :ref:`baselines`.",
    ),
    Section(
        "Kernels and anchors",
        "sklearn_hashrank",
        ("TALRKernel", "KSHHasher", "BREHasher", "AGHHasher", "KLSHHasher"),
        "Methods that compare rows with anchors; see :ref:`kernel_methods`.",
    ),
    Section(
        "Projections",
        "sklearn_hashrank",
        (
            "SpectralHasher",
            "SKLSHHasher",
            "SphericalHasher",
            "DensityHasher",
            "SSHHasher",
            "WTAHasher",
            "CMHHasher",
        ),
        "Classical hashers that project rows on directions or compare them with centers; see "
        ":ref:`projections`.",
    ),
    Section(
        "Codes that are decoded",
        "sklearn_hashrank",
        ("AdditiveQuantizer", "BinaryAutoencoderHasher"),
        "Codes from which rows are reconstructed; see :ref:`additive` and "
        ":ref:`binary_autoencoder`.",
    ),
    Section(
        "Files",
        "sklearn_hashrank",
        ("save_hasher", "load_hasher"),
        "Fitted hashers in files, without pickle; see :ref:`files`.",
    ),
    Section(
        "Retrieval histogram",
        "sklearn_hashrank",
        ("retrieval_histogram", "RetrievalHistogram"),
        "Counts by query, level and distance, and every measure of them; see :ref:`evaluation`.",
    ),
    Section(
        "Rankings by other distances",
        "sklearn_hashrank.metrics",
        ("distance_histogram", "read_run", "read_qrels"),
        "The same measures where codes are not ranked by Hamming distance; see :ref:`any-ranking`.",
    ),
    Section(
        "Metrics",
        "sklearn_hashrank.metrics",
        tuple(_ranking_metrics.__all__),
        "Exact means over all orders of tied items, with bounds; see :ref:`evaluation`.",
    ),
    Section(
        "Significance",
        "sklearn_hashrank.metrics",
        ("paired_test", "PairedTest", "holm_correction", "randomized_tukey_hsd"),
        "Whether systems differ by more than the choice of the queries; see :ref:`significance`.",
    ),
    Section(
        "Scorers",
        "sklearn_hashrank.metrics",
        ("make_retrieval_scorer",),
        "For cross-validation and searches; see :ref:`model_selection`.",
    ),
    Section(
        "Model selection",
        "sklearn_hashrank.model_selection",
        (
            "cross_validate_retrieval",
            "choose_retrieval_split",
            "PerClassRetrievalSplit",
            "UnseenClassesSplit",
            "RandomRetrievalSplit",
            "RetrievalSplit",
            "RetrievalKFold",
        ),
        "Training rows, queries and database; see :ref:`model_selection`.",
    ),
    Section(
        "Lookup metrics",
        "sklearn_hashrank.metrics",
        tuple(_lookup_metrics.__all__),
        "Metrics of the items within a Hamming radius; see :ref:`lookup_metrics`.",
    ),
    Section(
        "Code usage and curves",
        "sklearn_hashrank.metrics",
        ("code_usage", "CodeUsage", "precision_recall_curve"),
        "How many codes are used, and how evenly; see :ref:`usage`.",
    ),
    Section(
        "Measures",
        "sklearn_hashrank.metrics",
        (
            "register_measure",
            "list_measures",
            "Measure",
            "Ties",
            "TieReport",
            "TieWarning",
        ),
        "Functions of counts with names, and how to add one; see :ref:`add_a_metric`.",
    ),
    Section(
        "Displays",
        "sklearn_hashrank.metrics",
        (
            "TieRangeDisplay",
            "PrecisionRecallDisplay",
            "RecallAtKDisplay",
            "CodeUsageDisplay",
        ),
        "Pictures of the above, drawn by matplotlib.",
    ),
    Section(
        "Comparison",
        "sklearn_hashrank.comparison",
        (
            "suggest",
            "compare",
            "Comparison",
            "HasherSearch",
            "method_from_name",
        ),
        "Methods, code lengths and seeds under one protocol; see :ref:`cli`.",
    ),
    Section(
        "Pages to look at",
        "sklearn_hashrank.explore",
        ("write_page", "write_neighbors"),
        "What codes retrieve, in one file for a browser; see :ref:`explore`.",
    ),
    Section("Command", "sklearn_hashrank.cli", ("main",), "``hashrank``; see :ref:`cli`."),
    Section(
        "Affinities",
        "sklearn_hashrank",
        (
            "LabelAffinity",
            "SharedLabelAffinity",
            "HierarchicalAffinity",
            "EuclideanAffinity",
            "NeighborAffinity",
            "PrecomputedAffinity",
        ),
        "How relevant a database item is to a query; see :ref:`affinities`.",
    ),
    Section(
        "Tools for affinities",
        "sklearn_hashrank.affinity",
        ("BaseAffinity",),
    ),
    Section(
        "Search",
        "sklearn_hashrank",
        ("HammingNeighbors",),
        "Exact neighbors by Hamming distance; see :ref:`neighbors`.",
    ),
    Section(
        "Search beyond Hamming distance",
        "sklearn_hashrank.neighbors",
        (
            "DecodedNeighbors",
            "rescore",
            "choose_oversampling",
        ),
        "Candidates rescored by original vectors, and decoded codes; see :ref:`neighbors`.",
    ),
    Section(
        "Approximate search",
        "sklearn_hashrank.metrics",
        ("index_recall_score",),
        "Recall of an index that may miss something; see :ref:`stores`.",
    ),
    Section(
        "Hashers elsewhere",
        "sklearn_hashrank.interop",
        (
            "to_onnx",
            "to_faiss_index",
            "to_sentence_transformers",
            "sentence_transformers_loss",
        ),
        "Fitted hashers that encode without this package; see :ref:`stores`.",
    ),
    Section(
        "Evaluation elsewhere",
        "sklearn_hashrank.interop",
        ("register_ir_measures", "tie_aware_evaluator"),
        "Tie-aware values in ir_measures and sentence-transformers; see :ref:`any-ranking`.",
    ),
    Section(
        "Codes",
        "sklearn_hashrank.codes",
        (
            "pack_codes",
            "unpack_codes",
            "truncate_codes",
            "load_codes",
            "read_codes",
            "hamming_distances",
            "spherical_distances",
            "weighted_distances",
        ),
        "Packing, formats and distances.",
    ),
    Section(
        "Feature extraction",
        "sklearn_hashrank.feature_extraction",
        ("GIST", "gabor_filters", "list_images", "read_images"),
        "Features of images; see :ref:`gist`.",
    ),
    Section(
        "Data sets",
        "sklearn_hashrank.datasets",
        (
            "load_digits_gist",
            "fetch_mnist",
            "fetch_fashion_mnist",
            "fetch_cifar10",
        ),
        "Images to hash; see :ref:`datasets`.",
    ),
    Section(
        "Base classes",
        "sklearn_hashrank.base",
        ("BaseHasher", "BitByBitHasher", "LinearHasher"),
        "What a new hasher stands on; see :ref:`add_a_hasher`.",
    ),
    Section(
        "Base class of objectives",
        "sklearn_hashrank.objectives",
        ("BaseObjective",),
        "What an objective must have, and what it may declare; see :ref:`add_an_objective`.",
    ),
    Section(
        "Ranking objectives",
        "sklearn_hashrank.objectives",
        (
            "RankingObjective",
            "AutoRanking",
            "AveragePrecision",
            "NDCG",
            "MutualInformation",
            "SoftTies",
            "TieValues",
            "SoftHistogram",
        ),
        "Smooth functions of soft histograms; see :ref:`talr` and :ref:`add_an_objective`.",
    ),
    Section(
        "Pairwise objectives",
        "sklearn_hashrank.objectives",
        (
            "PairwiseObjective",
            "DSH",
            "Dispersed",
            "Hierarchical",
            "Nested",
        ),
        "Zones for the distance of a pair, by its level; see :ref:`dispersion`.",
    ),
    Section(
        "Likelihoods of pairs and triplets",
        "sklearn_hashrank.objectives",
        ("DPSH", "HashNet", "DTSH", "Centers"),
        "Logistic losses of inner products; see :ref:`minibatch_methods`.",
    ),
    Section(
        "Prefixes of codes",
        "sklearn_hashrank.objectives",
        ("Prefixes",),
        "Any objective, maximized for the first bits as well; see :ref:`prefix_codes`.",
    ),
    Section(
        "Networks",
        "sklearn_hashrank.deep",
        ("DeepHasher",),
        "A network that is a hasher, with the extra ``deep``; see :ref:`deep`.",
    ),
    Section(
        "Losses for torch",
        "sklearn_hashrank.deep",
        ("TieAwareLoss", "PairwiseLoss"),
        "The objectives as losses of networks, with the extra ``deep``; see :ref:`deep`.",
    ),
)


# Pages of the reference: file, title and sections, in the order of the side navigation.
PAGES = (
    (
        "hashers",
        "Hashers",
        ("Hashers", "Baselines", "Kernels and anchors", "Projections", "Codes that are decoded"),
    ),
    ("networks", "Networks", ("Networks", "Losses for torch")),
    ("metrics", "Metrics", ("Metrics", "Lookup metrics", "Code usage and curves", "Measures")),
    (
        "evaluation",
        "Evaluation",
        (
            "Retrieval histogram",
            "Rankings by other distances",
            "Significance",
            "Scorers",
            "Model selection",
            "Evaluation elsewhere",
        ),
    ),
    ("displays", "Displays and pages", ("Displays", "Pages to look at")),
    ("comparison", "Comparison and command", ("Comparison", "Command")),
    ("affinity", "Relevance", ("Affinities", "Tools for affinities")),
    ("search", "Search", ("Search", "Search beyond Hamming distance", "Approximate search")),
    ("codes", "Codes and files", ("Codes", "Files", "Hashers elsewhere")),
    ("data", "Features and data sets", ("Feature extraction", "Data sets")),
    (
        "objectives",
        "Objectives",
        (
            "Ranking objectives",
            "Pairwise objectives",
            "Likelihoods of pairs and triplets",
            "Prefixes of codes",
        ),
    ),
    ("base", "Base classes", ("Base classes", "Base class of objectives")),
)


def write_pages(folder: Path) -> None:
    """Write the pages and their index in reStructuredText; autosummary makes a page per name."""
    folder.mkdir(parents=True, exist_ok=True)
    by_title = {section.title: section for section in SECTIONS}
    index = [".. _api:", "", *_heading("API", "="), ".. list-table::", "   :widths: 30 70", ""]
    for name, title, sections in PAGES:
        index += [f"   * - :doc:`{name}`", f"     - {', '.join(sections)}"]
        lines = _heading(title, "=")
        for section in map(by_title.__getitem__, sections):
            lines += _heading(section.title, "-") if len(sections) > 1 else []
            lines += [section.text, ""] if section.text else []
            lines += [f".. currentmodule:: {section.module}", ""]
            lines += [".. autosummary::", "   :toctree: ../generated", "   :nosignatures:", ""]
            lines += [*(f"   {each}" for each in section.names), ""]
        write_if_changed(folder / f"{name}.rst", "\n".join(lines))
    index += ["", ".. toctree::", "   :hidden:", "", *(f"   {name}" for name, _, _ in PAGES), ""]
    write_if_changed(folder / "index.rst", "\n".join(index))


def _heading(title: str, underline: str) -> list[str]:
    return [title, underline * len(title), ""]


def write_if_changed(path: Path, text: str) -> None:
    """Write a text unless the file has it: Sphinx reads files again that are newer."""
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")
