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
        "Hashers for other objectives",
        "sklearn_hashrank",
        ("MIHasher", "DPSHHasher", "DTSHHasher", "HashNetHasher"),
        "Mutual information, and likelihoods of pairs and triplets, by the trainer of TALRLinear; "
        "see :ref:`minibatch_methods`.",
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
        "Classical hashers that project rows on directions or compare them with centres; see "
        ":ref:`projections`.",
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
        "sklearn_hashrank.histogram",
        ("distance_histogram",),
        "The same measures where codes are not ranked by Hamming distance.",
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
            "UnseenClassesSplit",
            "RandomRetrievalSplit",
            "cifar10_split",
            "RetrievalSplit",
            "RetrievalKFold",
        ),
        "Training rows, queries and database; see :ref:`model_selection`.",
    ),
    Section(
        "Lookup metrics",
        "sklearn_hashrank.metrics",
        (
            "lookup_precision_score",
            "lookup_recall_score",
            "average_cumulative_gain_score",
            "local_group_average_precision_score",
        ),
        "What lies within a Hamming radius; see :ref:`usage`.",
    ),
    Section(
        "Code usage and curves",
        "sklearn_hashrank.metrics",
        ("code_usage", "CodeUsage", "precision_recall_curve", "recall_at_k_curve"),
        "How many codes are used, and how evenly; see :ref:`usage`.",
    ),
    Section(
        "Measures",
        "sklearn_hashrank.measures",
        (
            "register_measure",
            "unregister_measure",
            "get_measure",
            "list_measures",
            "Measure",
            "Ties",
        ),
        "Functions of counts with names, and how to add one; see :ref:`add_a_metric`.",
    ),
    Section(
        "Tools for measures and objectives",
        "sklearn_hashrank.measures",
        ("level_gains", "ideal_dcg", "ratio"),
        "What measures and objectives share.",
    ),
    Section(
        "Displays",
        "sklearn_hashrank.metrics",
        (
            "TieRangeDisplay",
            "PrecisionRecallDisplay",
            "RecallAtKDisplay",
            "BitsCurveDisplay",
            "CodeUsageDisplay",
        ),
        "Pictures of the above, drawn by matplotlib.",
    ),
    Section(
        "Comparison",
        "sklearn_hashrank.comparison",
        (
            "compare",
            "Comparison",
            "RunResult",
            "Rescoring",
            "method_from_name",
            "measure_codes",
        ),
        "Methods, code lengths and seeds under one protocol; see :ref:`cli`.",
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
        ("BaseAffinity", "auto_affinity", "fit_affinity"),
    ),
    Section(
        "Search",
        "sklearn_hashrank.neighbors",
        ("HammingNeighbors", "rescore"),
        "Exact neighbours in Hamming distance, and candidates rescored; see :ref:`neighbors`.",
    ),
    Section(
        "Approximate search",
        "sklearn_hashrank.metrics",
        ("index_recall_score",),
        "Recall of an index that may miss something; see :ref:`stores`.",
    ),
    Section(
        "Codes in other formats",
        "sklearn_hashrank.interop",
        ("to_faiss", "from_faiss", "to_bit_strings", "from_bit_strings", "to_bytes", "from_bytes"),
        "Codes to and from faiss, databases and vector stores; see :ref:`stores`.",
    ),
    Section(
        "Hashers elsewhere",
        "sklearn_hashrank.interop",
        (
            "to_onnx",
            "register_skl2onnx",
            "to_faiss_index",
            "to_sentence_transformers",
            "to_numpy_source",
        ),
        "Fitted hashers that encode without this package; see :ref:`stores`.",
    ),
    Section(
        "Codes",
        "sklearn_hashrank.codes",
        (
            "pack_codes",
            "unpack_codes",
            "load_codes",
            "hamming_distances",
            "spherical_distances",
            "weighted_distances",
            "group_equal",
            "EqualCodes",
        ),
        "Packing, formats, distances, rows that share a code.",
    ),
    Section(
        "Feature extraction",
        "sklearn_hashrank.feature_extraction",
        ("GIST", "gabor_filters"),
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
            "load_cifar100",
            "load_nus_wide",
            "load_labelme",
        ),
        "Images to hash; see :ref:`datasets`.",
    ),
    Section(
        "Base classes",
        "sklearn_hashrank.base",
        ("BaseHasher", "LinearHasher"),
        "What a new hasher stands on; see :ref:`add_a_hasher`.",
    ),
    Section(
        "Ranking objectives",
        "sklearn_hashrank.objectives",
        (
            "Objective",
            "SimplifiedAP",
            "ArxivAP",
            "CvprAP",
            "ExactAP",
            "SimplifiedNDCG",
            "ArxivNDCG",
            "CvprNDCG",
            "ExactNDCG",
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
            "SquaredEuclidean",
            "CityBlock",
        ),
        "Zones for the distance of a pair, by its level; see :ref:`dispersion`.",
    ),
    Section(
        "Likelihoods of pairs and triplets",
        "sklearn_hashrank.objectives",
        ("DPSH", "HashNet", "DTSH"),
        "Logistic losses of inner products; see :ref:`minibatch_methods`.",
    ),
    Section(
        "Networks",
        "sklearn_hashrank.deep",
        ("DeepHasher",),
        "A network that is a hasher, with the extra ``torch``; see :ref:`deep`.",
    ),
    Section(
        "Losses for torch",
        "sklearn_hashrank.deep",
        ("TieAwareLoss", "PairwiseLoss"),
        "The objectives as losses of networks, with the extra ``torch``; see :ref:`deep`.",
    ),
    Section(
        "Solvers",
        "sklearn_hashrank.solvers.alm",
        ("minimize_orthogonal", "OrthogonalSolution"),
    ),
)

SHARED = {
    "sklearn_hashrank.affinity": (
        "affinity_for",
        "affinity_of_all_pairs",
        "affinity_to_learn_from",
        "as_array",
        "as_rows",
        "check_level_indices",
        "fit_affinity_of_blocks",
        "is_auto",
    ),
    "sklearn_hashrank.base": (
        "pack_signs",
        "project",
    ),
    "sklearn_hashrank.codes": (
        "FORMATS",
        "CodeCounter",
        "CodeReader",
        "KeptCodes",
        "as_code_matrix",
        "check_n_bits",
        "collect_codes",
        "packed_width",
        "write_codes",
    ),
    "sklearn_hashrank.comparison": (
        "MEASURED",
        "Column",
        "Method",
        "columns_of",
        "measure_rescoring",
        "name_measures",
        "projections_of",
    ),
    "sklearn_hashrank.features": (
        "AnchorWeights",
        "Anchors",
        "Basis",
        "CenteredRows",
        "FeatureSpace",
        "Hyperplanes",
        "KernelFeatures",
        "Moments",
        "block_slices",
        "column_means",
        "combine_means",
        "dense_if_small",
        "fit_into",
        "fix_signs",
        "inverse_root",
        "leading_directions",
        "leading_eigenpairs",
        "map_blocks",
    ),
    "sklearn_hashrank.learning": (
        "BatchRelevance",
        "EarlyStopping",
        "History",
        "LinearLearner",
        "NeighborRelevance",
        "Report",
        "Trainer",
        "check_two_rows",
        "choose_batch_size",
        "learned_relevance",
        "make_batches",
        "split_for_validation",
        "takes_groups",
        "validation_of",
    ),
    "sklearn_hashrank.measures": (
        "DISCOUNTS",
        "MEASURES",
        "NEEDS_CODES",
        "TIE_ORDERS",
        "ConfiguredMeasure",
        "Discount",
        "DiscountSums",
        "Gain",
        "Normalize",
        "TieOrder",
        "configure_measure",
        "evaluate",
        "mean_over_queries",
        "mean_score",
        "parse_measure",
        "precision_and_recall",
        "usage_of",
    ),
    "sklearn_hashrank.metrics": ("RetrievalScorer",),
    "sklearn_hashrank.metrics.retrieval": (
        "Encoded",
        "EncodedDatabase",
        "check_database",
        "encode",
        "retrieve",
        "unwrap",
        "warn_if_all_is_relevant",
    ),
    "sklearn_hashrank.metrics.settings": ("has_setting", "with_settings"),
    "sklearn_hashrank.neighbors": ("DISTANCES",),
    "sklearn_hashrank.objectives": (
        "BEST_RELAXATION",
        "FLOOR",
        "OBJECTIVES",
        "PAIRWISE_OBJECTIVES",
        "CheckedObjective",
    ),
    "sklearn_hashrank.objectives.structural": ("LOSSES", "RankingLoss", "count_relevant"),
    "sklearn_hashrank.persistence": (
        "Archive",
        "CodeFile",
        "Draft",
        "MalformedFileError",
        "TreeReader",
        "TreeWriter",
        "check_output",
        "given_name",
        "is_given",
        "map_array",
        "noted_n_bits",
        "read_archive",
        "read_array",
        "read_arrays",
        "reading",
        "storable",
        "storable_types",
        "type_name",
        "write_archive",
        "write_file",
    ),
    "sklearn_hashrank.rows": (
        "DaskRows",
        "Rows",
        "check_batch_size",
        "in_memory",
        "is_dask_array",
        "report_progress",
        "source",
    ),
    "sklearn_hashrank.solvers.binary_quadratic": (
        "Blocks",
        "energy",
        "minimise_by_cuts",
        "minimise_spectrally",
    ),
    "sklearn_hashrank.solvers.column_generation": ("WeightedRankings",),
    "sklearn_hashrank.solvers.cutting_plane": (
        "CuttingPlane",
        "PegasosMaster",
        "SemidefiniteMaster",
        "factor",
    ),
    "sklearn_hashrank.solvers.linear_classifiers": ("fit_squared_hinges",),
    "sklearn_hashrank.solvers.rotation": (
        "itq_rotation",
        "random_rotation",
        "rotate_to_signs",
    ),
    "sklearn_hashrank.solvers.stochastic": (
        "SGD",
        "Adam",
        "AdamByColumn",
        "Ascent",
        "constant",
        "cosine",
        "step",
    ),
}
"""Names that the folders of the package share with one another, outside of the reference."""


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
