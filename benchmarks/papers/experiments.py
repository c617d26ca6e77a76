"""The experiments of the papers as data: what is compared, by which measures, in which tables.

Nothing here runs. ``reproduction.py`` runs them and keeps what it finds, ``paper_tables.py`` makes
the tables of the documentation from that.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from benchmarks.data_sets import load_cifar100, load_labelme, load_nus_wide
from benchmarks.papers import papers
from benchmarks.protocols import deep_features, fashion_mnist, gist
from sklearn_hashrank import (
    EuclideanAffinity,
    HierarchicalAffinity,
    LabelAffinity,
    SharedLabelAffinity,
)
from sklearn_hashrank.model_selection import (
    PerClassRetrievalSplit,
    RandomRetrievalSplit,
    RetrievalSplit,
)

FREQUENT_LABELS = 21
VEHICLES = (0, 1, 8, 9)  # of the classes of CIFAR-10; the others are animals
LABELME_ROWS = 22_000  # as many as there are of LabelMe
SOME_ROWS = 21_000  # a distance of each pair costs a hundred times the count of its bits

# What comes how late, by the time that it takes: quick rows of the first seeds are done first.
FIRST_SEEDS = 5
LATER = {
    "classifier": 1,
    "machash": 1,
    "structhash": 1,
    "structhash-trees": 2,
    "talr-kernel": 1,
    "talr-paper": 1,
    "hashnet, equal budget": 1,
    "hashnet, equal passes": 1,
    "fasthash": 2,
    "dpsh, equal budget": 3,
    "dtsh, equal budget": 3,
}


def _same_budget(names, dropout):
    """Rows for other objectives with the passes and the dropout of TALR, by the name of the row."""
    return {f"{name}, equal budget": f"{name}:max_iter=120:dropout={dropout}" for name in names}


OF_AP = ["mihash", "hashnet", "dpsh", "dtsh"]
AP_BUDGET = _same_budget(OF_AP, "{dropout}")  # what TALR-AP takes on these data
NDCG_BUDGET = {
    row.replace("equal budget", "equal passes"): notation
    for row, notation in _same_budget(["mihash", "hashnet"], "0").items()
}
CVPR_2010 = "ssh:orthogonal=True"

OF_SSH = (
    "``ssh`` learns its directions one after the other (ICML 2010), "
    f"``{CVPR_2010}`` all at once (CVPR 2010)."
)
OF_TIMES = "Times are of one core of a machine on which other programs ran."
OF_BUDGETS = (
    "Rows of equal budget have the passes and the dropout of ``talr-ap``, and the same trainer and "
    "features as all rows of gradient ascent."
)
OF_GRADES = (
    "FastHash, MACHash, StructHash, DPSH, HashNet, MIHash and ``dtsh`` learn from what is relevant "
    "and what is not; ``bre``, ``rsh``, ``dtsh:graded=True`` and ``talr-ndcg`` learn from grades. "
    "In the paper DTSH and StructHash learn from grades; NDCG as the loss of StructHash counts "
    "whatever is relevant once."
)
OF_DPSH = (
    "In the papers DPSH has parameters that the authors of DTSH recommend, which are not printed; "
    "here it has its defaults."
)
OF_TREES = (
    "StructHash has boosted trees in the paper, as ``structhash-trees`` has them; ``structhash`` "
    "has linear hash functions."
)


@dataclass
class DatabaseOfTrainingRows:
    """A protocol with the training rows as its database."""

    protocol: Any
    random_state: Any = None

    def split(self, X, y=None):
        """Yield training rows, queries, and the training rows again."""
        seeded = replace(self.protocol, random_state=self.random_state)
        for train, query, _ in seeded.split(X, y):
            yield RetrievalSplit(train, query, train)


@dataclass(frozen=True)
class Task:
    """Data, what is relevant, how rows are sampled, and what is compared on them.

    Parameters
    ----------
    key : str
        Name in the results.
    data : str
        Method of `Sets` that gives the data.
    affinity : affinity object
        What is relevant, and what hashers learn from.
    protocol : split object
        How rows are sampled; without a seed.
    measures : list of str
        What is measured.
    n_bits : list of int
        Lengths of the codes.
    methods : mapping of str to str
        Notation of each row's method; ``{dropout}`` in it is what TALR-AP takes on these data.
    also : tuple of str, default=()
        Further figures of a run that are kept, such as ``"distinct_codes"``.
    curve_bits : tuple of int, default=()
        Lengths of which points of the curves of precision and recall are kept.
    lengths : mapping of str to list of int, default={}
        Rows that need only some of `n_bits`.
    later : mapping of str to int, default={}
        Rows that come later, where `LATER` does not say so.
    first_seeds : int, default=5
        Seeds that come before the slower methods.
    order : int, default=0
        The same for all rows of the task.
    seeds : int or None, default=None
        How many, where it is not what is asked for.
    called : str, default=""
        What follows the name of the data in titles.
    """

    key: str
    data: str
    affinity: Any
    protocol: Any
    measures: list[str]
    n_bits: list[int]
    methods: Mapping[str, str]
    also: tuple[str, ...] = ()
    curve_bits: tuple[int, ...] = ()
    lengths: Mapping[str, list[int]] = field(default_factory=dict)
    later: Mapping[str, int] = field(default_factory=dict)
    first_seeds: int = FIRST_SEEDS
    order: int = 0
    seeds: int | None = None
    called: str = ""

    def turn(self, row, seed):
        """When a row of a seed is run; lower comes first."""
        name = self.methods[row].partition(":")[0]
        late = self.order + self.later.get(row, LATER.get(row, LATER.get(name, 0)))
        return late + 2 * (seed >= self.first_seeds), late, seed


@dataclass(frozen=True)
class Table:
    """A table of a page: a measure of one task by method and length.

    Parameters
    ----------
    task : str
        Key of the task.
    measure : str
        What the cells show; ``"fit_seconds"`` is one, too.
    title : str
        What it is called.
    printed : mapping, default={}
        The paper's figures by method and length.
    methods, n_bits : list or None, default=None
        Rows and columns; None: all of the task.
    kind : {"means", "ties", "curve"}, default="means"
        ``"ties"`` shows the worst order, the mean and the best order, ``"curve"`` the measure at
        some ranks and one length.
    """

    task: str
    measure: str
    title: str
    printed: Mapping[str, Any] = field(default_factory=dict)
    methods: list[str] | None = None
    n_bits: list[int] | None = None
    kind: str = "means"


@dataclass(frozen=True)
class Part:
    """One file of the page: tasks and tables, and what a reader has to know of them."""

    title: str
    tasks: list[Task]
    tables: list[Table]
    notes: tuple[str, ...] = ()


def _by_name(*names):
    return {name: name for name in dict.fromkeys(names)}


NDCG_2013 = "ndcg:gain=linear:discount=log2"


def _footnote_of_bre(task, n_bits):
    """BRE retrieves its training rows, as footnotes of the papers' tables say."""
    return Task(
        "training-rows",
        task.data,
        task.affinity,
        DatabaseOfTrainingRows(task.protocol),
        ["ndcg"],
        n_bits,
        _by_name("bre"),
        order=1,
        called="training rows as the database",
    )


def _bre(printed):
    return {"bre": printed["bre"]}


def _rsh():
    keys = {
        "label-paths": ("label_paths", HierarchicalAffinity()),
        "label-sets": ("label_sets", SharedLabelAffinity()),
        "distances": ("distances", EuclideanAffinity(percentiles=[5, 2], levels=[1, 2])),
    }
    rows = _by_name(
        *papers.OF_RSH[:2], CVPR_2010, *papers.OF_RSH[2:], "lsh", "itq", "rsh", "talr-ndcg"
    )
    tasks = [
        Task(
            key,
            data,
            affinity,
            RandomRetrievalSplit(1000, 5000),
            [NDCG_2013, "acg"],
            [8, 16, 24, 32],
            rows,
            later={"talr-ndcg": 1},
        )
        for key, (data, affinity) in keys.items()
    ]
    tables = [
        Table(key, measure, title)
        for key in keys
        for measure, title in ((NDCG_2013, "NDCG, equation 12"), ("acg", "ACG within radius 3"))
    ]
    for key in ("label-paths", "label-sets"):
        tables.append(Table(key, "encode_microseconds", "microseconds to encode a row"))
        tables.append(Table(key, "fit_seconds", "seconds to train"))
    return Part(
        "Ranking-based supervised hashing, 2013, figures 2 to 5", tasks, tables, (OF_SSH, OF_TIMES)
    )


def _lwh():
    k = "recall@1000"
    rows = _by_name(*papers.OF_LWH[:6], CVPR_2010, *papers.OF_LWH[6:])
    rows |= _by_name("lwh-paper:loss=ndcg", "itq", "rsh", "lwh", "talr-ap")
    keys = {
        "classes": ("cifar10_gist", LabelAffinity()),
        "label-sets": ("label_sets", SharedLabelAffinity()),
    }
    tasks = [
        Task(
            key,
            data,
            affinity,
            RandomRetrievalSplit(2000, 3000),
            ["ap", "ph2", k],
            [8, 16, 24, 32, 48],
            rows,
            curve_bits=(32,),
            later=dict.fromkeys(["lwh", "talr-ap"], 1),
        )
        for key, (data, affinity) in keys.items()
    ]
    tables = []
    for key in keys:
        tables.append(Table(key, "ap", "mean AP"))
        tables.append(Table(key, "ph2", "precision within radius 2"))
        tables.append(Table(key, k, "recall at 1,000"))
        tables.append(Table(key, "precision", "precision by rank", n_bits=[32], kind="curve"))
        tables.append(Table(key, "recall", "recall by rank", n_bits=[32], kind="curve"))
        tables.append(Table(key, "fit_seconds", "seconds to train"))
    return Part(
        "List-wise supervised hashing, 2014, figures 1 and 2", tasks, tables, (OF_SSH, OF_TIMES)
    )


def _talr_cifar():
    rows = _by_name(*papers.OF_TALR, "structhash-trees", "hashnet", "structhash:loss=ndcg")
    rows |= _by_name("classifier", "lsh", "itq", "rsh", "lwh")
    rows |= _by_name("talr-ap", "talr-paper", "talr-kernel")
    first = Task(
        "setting-1",
        "cifar10_features",
        LabelAffinity(),
        PerClassRetrievalSplit(100, 500),
        ["ap"],
        [12, 24, 32, 48],
        rows | AP_BUDGET,
        later={"lwh": 1},
        called="setting 1",
    )
    second = Task(
        "setting-2",
        "cifar10_features",
        LabelAffinity(),
        PerClassRetrievalSplit(1000, None),
        ["ap"],
        [16, 24, 32, 48],
        _by_name("dpsh", "dtsh", "mihash", "hashnet", "talr-ap") | AP_BUDGET,
        lengths={row: [16, 32] for row in AP_BUDGET},  # the others would take as long again
        later={"dtsh": 1, "hashnet": 1},
        order=2,
        called="setting 2",
    )
    trials = Task(
        "trials",
        "cifar10_features",
        LabelAffinity(),
        PerClassRetrievalSplit(100, 500),
        ["ap"],
        [16, 32, 48, 64],
        {"lsh": "lsh"},
        seeds=50,
        called="trials",
    )
    of_2017 = list(papers.CIFAR_S1_2017)
    default = list(rows)
    budget = ["talr-ap", *AP_BUDGET]
    tables = [
        Table("setting-1", "ap", "AP (2018)", papers.CIFAR_S1, default),
        Table("setting-1", "ap", "AP (2017)", papers.CIFAR_S1_2017, of_2017),
        Table("setting-1", "ap", "AP at equal passes and dropout", methods=budget),
        Table(
            "setting-1",
            "ap",
            "worst order, AP_T, best order",
            papers.TIES_32_BITS,
            [*papers.OF_TALR, "structhash-trees", "hashnet", "talr-ap", "lsh"],
            kind="ties",
        ),
        Table(
            "setting-2",
            "ap",
            "AP (2018)",
            papers.CIFAR_S2,
            ["dpsh", "dtsh", "mihash", "hashnet", "talr-ap"],
        ),
        Table("setting-2", "ap", "AP (2017)", papers.CIFAR_S2_2017, list(papers.CIFAR_S2_2017)),
        Table("setting-2", "ap", "AP at equal passes and dropout", methods=budget),
        Table("trials", "ap", "worst order, AP_T, best order", kind="ties"),
    ]
    return Part(
        "Tie-aware learning to rank, 2017 and 2018, CIFAR-10 (table 1)",
        tasks=[first, second, trials],
        tables=tables,
        notes=(OF_BUDGETS, OF_TREES),
    )


def _talr_nus_wide():
    at_5k = "ap@5000:normalize=retrieved"
    of_ap, of_ndcg = [12, 24, 32, 48], [16, 32, 48, 64]
    rows = _by_name(
        *papers.OF_TALR,
        "structhash-trees",
        "hashnet",
        "dtsh:graded=True",
        "structhash:loss=ndcg",
        "structhash-trees:loss=ndcg",
        "itq",
        "rsh",
        "lwh",
        "talr-ap",
        "talr-ndcg",
        "talr-kernel",
        "talr-paper",
        "talr-paper:objective=ap",
    )
    only_ap = ["structhash-trees", "dtsh", "hashnet", "talr-ap", "talr-paper:objective=ap"]
    only_ap += AP_BUDGET
    only_ndcg = [
        "dtsh:graded=True",
        "structhash:loss=ndcg",
        "structhash-trees:loss=ndcg",
        "talr-ndcg",
        "talr-paper",
        *NDCG_BUDGET,
    ]
    task = Task(
        "label-sets",
        "label_sets",
        SharedLabelAffinity(),
        PerClassRetrievalSplit(100, 200),
        ["ap", at_5k, "ndcg"],
        sorted({*of_ap, *of_ndcg}),
        rows | AP_BUDGET | NDCG_BUDGET,
        lengths=dict.fromkeys(only_ap, of_ap) | dict.fromkeys(only_ndcg, of_ndcg),
        later=dict.fromkeys(["itq", "rsh", "lwh", "hashnet", *NDCG_BUDGET], 1),
        order=1,
        first_seeds=3,
    )
    footnote = _footnote_of_bre(task, of_ndcg)
    default = list(rows)
    tables = [
        Table(task.key, "ap", "AP", papers.NUS_AP, default, of_ap),
        Table(
            task.key,
            "ap",
            "AP at equal passes and dropout",
            methods=["talr-ap", *AP_BUDGET],
            n_bits=of_ap,
        ),
        Table(
            task.key,
            at_5k,
            "AP@5K",
            papers.NUS_AP_5K,
            [*papers.NUS_AP_5K, "hashnet", "talr-kernel"],
            of_ap,
        ),
        Table(task.key, "ndcg", "NDCG", papers.NUS_NDCG, default, of_ndcg),
        Table(
            task.key,
            "ndcg",
            "NDCG at equal passes",
            methods=["talr-ndcg", *NDCG_BUDGET],
            n_bits=of_ndcg,
        ),
        Table(footnote.key, "ndcg", "NDCG of BRE (footnote of table 3)", _bre(papers.NUS_NDCG)),
    ]
    return Part(
        "Tie-aware learning to rank, several labels (tables 1 and 3)",
        [task, footnote],
        tables,
        (OF_BUDGETS, OF_GRADES, OF_TREES, OF_DPSH),
    )


def _talr_imagenet():
    at_1000 = "ap@1000:normalize=retrieved"
    rows = _by_name(
        "hashnet", "mihash", "talr-ap", "itq", "rsh", "lwh", "talr-paper", "talr-kernel"
    )
    budget = {row: AP_BUDGET[row] for row in list(AP_BUDGET)[:2]}
    # By default batches are sampled by class, because there are many.
    of_batches = {
        "dtsh": "dtsh",
        "dtsh, random batches": "dtsh:batch_size=512",
        "talr-ap, random batches": "talr-ap:batch_size=512",
    }
    task = Task(
        "classes",
        "many_classes",
        LabelAffinity(),
        PerClassRetrievalSplit(10, 50),
        [at_1000, "ap"],
        [16, 32, 48, 64],
        rows | budget | of_batches,
        lengths={row: [16, 64] for row in of_batches},
        later={"lwh": 1} | dict.fromkeys(of_batches, 1),
    )
    tables = [
        Table(task.key, at_1000, "AP@1000", papers.IMAGENET_AP_1000, list(rows)),
        Table(
            task.key, at_1000, "AP@1000 at equal passes and dropout", methods=["talr-ap", *budget]
        ),
        Table(
            task.key,
            at_1000,
            "AP@1000, batches sampled by class and at random",
            methods=["talr-ap", *of_batches],
            n_bits=[16, 64],
        ),
    ]
    return Part(
        "Tie-aware learning to rank, 2018, many classes (table 2)", [task], tables, (OF_BUDGETS,)
    )


def _talr_labelme():
    rows = _by_name(
        *papers.OF_TALR,
        "dtsh:graded=True",
        "structhash:loss=ndcg",
        "structhash-trees:loss=ndcg",
        "lsh",
        "itq",
        "rsh",
        "talr-ndcg",
        "talr-kernel",
        "talr-paper",
    )
    task = Task(
        "distances",
        "labelme",
        EuclideanAffinity(percentiles=[5, 1, 0.2, 0.1], levels=[1, 2, 5, 10]),
        RandomRetrievalSplit(2000, 5000),
        ["ndcg"],
        [16, 32, 48, 64],
        rows | NDCG_BUDGET,
        later=dict.fromkeys(["dtsh", "lsh", "itq"], 1),
        order=1,
        first_seeds=3,
    )
    footnote = _footnote_of_bre(task, task.n_bits)
    tables = [
        Table(task.key, "ndcg", "NDCG", papers.LABELME_NDCG, list(rows)),
        Table(task.key, "ndcg", "NDCG at equal passes", methods=["talr-ndcg", *NDCG_BUDGET]),
        Table(footnote.key, "ndcg", "NDCG of BRE (footnote)", _bre(papers.LABELME_NDCG)),
    ]
    notes = ("Rows of equal passes have as many as ``talr-ndcg``.", OF_GRADES, OF_TREES)
    return Part("Tie-aware learning to rank, no labels (table 3)", [task, footnote], tables, notes)


def _mlgap():
    bits, measures = [12, 24], ["mlgap", "ap", "ph2"]
    # Figure 1 cites density sensitive hashing as DSH; the text beside it speaks of labels.
    of_figure_1 = [
        "dsh",
        "density",
        "itq",
        "lsh",
        "pca-rr",
        "pca",
        "spectral",
        "sklsh",
        "spherical",
    ]
    also = ("distinct_codes", "code_entropy")
    # DSH of another distance. Of codes it is half as large, and the regularization with it or not.
    city_block = {
        "dsh, city block": "dispersed:zone=(0, 0)",
        "dsh, city block, half the regularization": "dispersed:zone=(0, 0):regularization=0.005",
    }
    first = Task(
        "classes",
        "cifar10_features",
        LabelAffinity(),
        PerClassRetrievalSplit(100, 500),
        measures,
        bits,
        _by_name("dsh", "dispersed-paper", "dispersed", *of_figure_1[2:], "density", "talr-ap")
        | city_block,
        also,
        lengths={row: [12] for row in of_figure_1 if row not in ("dsh", "itq")},
        later={"talr-ap": 1},
    )
    second = Task(
        "label-paths",
        "label_paths",
        HierarchicalAffinity(),
        PerClassRetrievalSplit(10, 50),
        measures,
        bits,
        _by_name("dsh", "hierarchical-paper", "hierarchical", "itq", "talr-ap") | city_block,
        also,
        later={"talr-ap": 1},
    )
    third = Task(
        "class-paths",
        "class_paths",
        HierarchicalAffinity(),
        PerClassRetrievalSplit(100, 500),
        measures,
        bits,
        _by_name("dsh", "hierarchical-paper", "hierarchical"),
        also,
        order=1,
    )
    tables = []
    nothing = {"mlgap": {}, "ap": {}}
    tasks = [first, second, third]
    for task, printed in zip(tasks, (papers.MLGAP_CIFAR10, papers.MLGAP_CIFAR100, nothing)):
        tables.append(Table(task.key, "mlgap", "mLGAP", printed["mlgap"]))
        tables.append(Table(task.key, "ap", "AP", printed["ap"]))
    used = [*of_figure_1, "dispersed-paper", "dispersed"]
    tables.append(Table(first.key, "distinct_codes", "codes in use (figures 1 and 8)", {}, used))
    tables.append(Table(first.key, "code_entropy", "entropy of the codes in bits", {}, used))
    return Part(
        "Mean local group average precision, 2018 (table 1)", [first, second, third], tables
    )


def _deep():
    networks = ["deep-talr-ap", "deep-dsh", "deep-dispersed-paper"]
    shallow = ["talr-ap", "dsh", "dispersed"]
    passes = {
        f"{name}, {number} passes": f"{name}:max_iter={number}"
        for name in networks
        for number in (2, 5, 10, 20)
    }
    first = Task(
        "setting-1",
        "cifar10_features",
        LabelAffinity(),
        PerClassRetrievalSplit(100, 500),
        ["ap", "mlgap"],
        [12, 24],
        _by_name(*networks, "deep-talr-paper", *shallow) | passes,
        lengths={row: [24] for row in passes},
        later=dict.fromkeys(passes, 2),
        called="setting 1",
    )
    second = Task(
        "setting-2",
        "cifar10_features",
        LabelAffinity(),
        PerClassRetrievalSplit(1000, None),
        ["ap", "mlgap"],
        [24],
        _by_name("deep-talr-ap", "talr-ap"),
        order=2,
        called="setting 2",
    )
    pixels = Task(
        "pixels",
        "fashion_mnist",
        LabelAffinity(),
        PerClassRetrievalSplit(100, 500),
        ["ap", "mlgap"],
        [24],
        {name: f"{name}:image_shape=(28, 28)" for name in networks} | _by_name(*shallow),
        order=1,
        called="setting 1",
    )
    paths = Task(
        "label-paths",
        "label_paths",
        HierarchicalAffinity(),
        PerClassRetrievalSplit(10, 50),
        ["ap", "mlgap"],
        [12, 24],
        {"deep-dsh": "deep-dsh", "deep-hierarchical-paper": "deep-dsh:objective=nested"}
        | _by_name("dsh", "hierarchical-paper"),
        order=1,
    )
    of_ap = {"deep-talr-ap": papers.CIFAR_S1["talr-ap"]}
    printed = papers.MLGAP_CIFAR10
    of_ap |= {f"deep-{name}": figures for name, figures in printed["ap"].items()}
    of_mlgap = {f"deep-{name}": figures for name, figures in printed["mlgap"].items()}
    default = [*networks, "deep-talr-paper", *shallow]
    tables = [
        Table("setting-1", "ap", "AP", of_ap, default),
        Table("setting-1", "mlgap", "mLGAP", of_mlgap, default),
        Table("setting-1", "ap", "AP by passes", methods=list(passes), n_bits=[24]),
        Table("setting-1", "mlgap", "mLGAP by passes", methods=list(passes), n_bits=[24]),
        Table("setting-2", "ap", "AP", {"deep-talr-ap": papers.CIFAR_S2["talr-ap"]}),
        Table("pixels", "ap", "AP"),
        Table("pixels", "mlgap", "mLGAP"),
    ]
    for measure, title in (("ap", "AP"), ("mlgap", "mLGAP")):
        printed = {f"deep-{name}": of for name, of in papers.MLGAP_CIFAR100[measure].items()}
        tables.append(Table("label-paths", measure, title, printed))
    return Part("Networks, 2018", [first, second, pixels, paths], tables)


PARTS = {
    "rsh": _rsh(),
    "lwh": _lwh(),
    "talr_imagenet": _talr_imagenet(),
    "talr_labelme": _talr_labelme(),
    "talr_nus_wide": _talr_nus_wide(),
    "talr_cifar": _talr_cifar(),
    "mlgap": _mlgap(),
    "deep": _deep(),
}


@dataclass(frozen=True)
class Data:
    """Rows, what they are compared by, and what to call them."""

    title: str
    X: np.ndarray
    y: np.ndarray | None


class Sets:
    """The sets of the papers, or what stands in for them, read when they are asked for.

    Parameters
    ----------
    files : mapping of str to str
        Paths by option: ``data``, ``features``, ``intents`` and ``multilabel`` stand in for the
        published ``cifar100``, ``nus_wide`` and ``labelme``, which take their place where they
        are given. ``fashion_mnist`` is a folder.
    scale : float, default=1
        Share of the rows that is taken, to try things out.
    """

    def __init__(self, files, scale=1.0):
        self.files, self.scale, self._read = files, scale, {}

    def get(self, name):
        """Return the data of a task, read once."""
        if name not in self._read:
            data = getattr(self, f"_{name}")()
            if self.scale < 1:
                rows = np.random.RandomState(0).permutation(len(data.X))
                rows = np.sort(rows[: round(len(rows) * self.scale)])
                data = Data(data.title, data.X[rows], None if data.y is None else data.y[rows])
            self._read[name] = data
        return self._read[name]

    def _path(self, option):
        if not self.files.get(option):
            raise SystemExit(f"this part needs --{option.replace('_', '-')}")
        return self.files[option]

    def _cifar10_gist(self):
        return Data("CIFAR-10, GIST", *gist(self._path("data")))

    def _cifar10_features(self):
        return Data("CIFAR-10, features of a network", *deep_features(self._path("features")))

    def _fashion_mnist(self):
        return Data("Fashion-MNIST, pixels", *fashion_mnist(self._path("fashion_mnist")))

    def _label_paths(self):
        if self.files.get("cifar100"):
            X, y = load_cifar100(self.files["cifar100"])
            return Data("CIFAR-100, pixels", X.astype(np.float32), y + 2)
        X, y = self._intents()
        return Data("CLINC150, for CIFAR-100", X, y + 2)  # 0 and 1 alone would be label sets

    def _class_paths(self):
        X, y = deep_features(self._path("features"))
        paths = np.column_stack([np.isin(y, VEHICLES), y]) + 2
        return Data("CIFAR-10, features of a network, vehicles and animals", X, paths)

    def _many_classes(self):
        X, y = self._intents()
        return Data("CLINC150, for ImageNet100", X, y[:, 1])

    def _intents(self):
        with np.load(self._path("intents")) as file:
            parts = ("train", "val", "test")
            X = np.concatenate([file[f"X_{part}"] for part in parts]).astype(np.float32)
            paths = [[file[f"{level}_{part}"] for part in parts] for level in ("domain", "intent")]
        return X, np.column_stack([np.concatenate(level) for level in paths]).astype(int)

    def _label_sets(self):
        if self.files.get("nus_wide"):
            X, Y = load_nus_wide(self.files["nus_wide"], FREQUENT_LABELS)
            return Data("NUS-WIDE, bag of words", X, Y)
        with np.load(self._path("multilabel")) as file:
            X, Y = file["X"].astype(np.float32), file["Y"].astype(int)
        Y = Y[:, np.argsort(-Y.sum(axis=0), kind="stable")[:FREQUENT_LABELS]]
        labelled = Y.any(axis=1)
        return Data("tmc2007-500, for NUS-WIDE", X[labelled], Y[labelled])

    def _distances(self):
        X = _some(gist(self._path("data"))[0], SOME_ROWS)
        return Data("CIFAR-10 GIST, for One-Million", unit_rows(X), None)

    def _labelme(self):
        if self.files.get("labelme"):
            return Data("LabelMe, GIST", unit_rows(load_labelme(self.files["labelme"])), None)
        X = _some(gist(self._path("data"))[0], LABELME_ROWS)
        return Data("CIFAR-10 GIST, for LabelMe", unit_rows(X), None)


def _some(X, n_rows):
    """So many rows, always the same."""
    return X[np.sort(np.random.RandomState(0).permutation(len(X))[:n_rows])]


def unit_rows(X):
    """Centred rows of unit length, as the authors of TALR prepare LabelMe."""
    X = X - X.mean(axis=0)
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
