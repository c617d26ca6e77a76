"""Draw the pictures of the guides as SVG, each for light and dark pages.

``python docs/drawings.py`` writes them to ``docs/_static/drawings``; a test compares them with what
is kept there. Values in a picture are computed here.
"""

from collections.abc import Callable
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split

from sklearn_hashrank import LSHHasher, RetrievalHistogram, retrieval_histogram
from sklearn_hashrank.codes import hamming_distances

FOLDER = Path(__file__).parent / "_static" / "drawings"
THEMES = {
    "light": {
        "text": "#1c2330",
        "quiet": "#5b6576",
        "line": "#aab3c0",
        "page": "#ffffff",
        "blue": "#1f6fa8",
        "orange": "#b85c00",
        "green": "#0b6e4f",
        "shade": "#dbe8f3",
    },
    "dark": {
        "text": "#e4e8ee",
        "quiet": "#9aa5b5",
        "line": "#5a6677",
        "page": "#14181f",
        "blue": "#6cb4e8",
        "orange": "#f0a35a",
        "green": "#58c79b",
        "shade": "#22364a",
    },
}
WIDTH = 420


class Drawing:
    """Shapes of an SVG 420 units wide, in which text of 14 units is legible on a phone."""

    def __init__(self, height: int, colors: dict[str, str]):
        self.height, self.colors = height, colors
        self.shapes: list[str] = []

    def text(self, x, y, text, color="text", size=14, anchor="start", weight="normal"):
        """Write a line of text."""
        escaped = str(text).replace("&", "&amp;").replace("<", "&lt;")
        self.shapes.append(
            f'<text x="{x:g}" y="{y:g}" fill="{self.colors[color]}" font-size="{size}" '
            f'text-anchor="{anchor}" font-weight="{weight}">{escaped}</text>'
        )

    def line(self, x1, y1, x2, y2, color="line", width=1.5, dash=""):
        """Draw a straight line."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.shapes.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" '
            f'stroke="{self.colors[color]}" stroke-width="{width}"{dashes}/>'
        )

    def box(self, x, y, width, height, fill=None, stroke="line", radius=4):
        """Draw a rectangle with round corners."""
        inside = self.colors[fill] if fill else "none"
        edge = f' stroke="{self.colors[stroke]}" stroke-width="1.5"' if stroke else ""
        self.shapes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" '
            f'fill="{inside}"{edge}/>'
        )

    def dot(self, x, y, radius, fill=None, stroke=None):
        """Draw a circle."""
        inside = self.colors[fill] if fill else "none"
        edge = f' stroke="{self.colors[stroke]}" stroke-width="2"' if stroke else ""
        self.shapes.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{inside}"{edge}/>')

    def arrow(self, x1, x2, y):
        """Draw an arrow to the right."""
        self.line(x1, y, x2 - 4, y, "quiet")
        self.shapes.append(f'<path d="M{x2:g} {y:g} l-8 -5 v10 z" fill="{self.colors["quiet"]}"/>')

    def item(self, x, y, is_relevant):
        """Draw an item: a full square if it is relevant, an empty one otherwise."""
        self.box(x, y, 18, 18, "green" if is_relevant else None, "green" if is_relevant else "line")

    def svg(self):
        """Return the text of the file."""
        inside = "\n  ".join(self.shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" '
            f'font-family="system-ui, Segoe UI, Liberation Sans, sans-serif">\n  {inside}\n</svg>\n'
        )


def hyperplanes(colors):
    """Points of two classes, three hyperplanes, and the code of each cell."""
    drawing = Drawing(290, colors)
    rng = np.random.default_rng(3)
    drawing.box(10, 10, 400, 250, stroke="line")
    lines = {"1": (120, 10, 190, 260), "2": (10, 120, 410, 175), "3": (345, 10, 235, 260)}
    for x1, y1, x2, y2 in lines.values():
        drawing.line(x1, y1, x2, y2, "blue", 2)
    for (x, y), color in (((70, 62), "green"), ((245, 65), "green"), ((345, 185), "orange")):
        for dx, dy in rng.uniform(-1, 1, (9, 2)) * (32, 24):
            drawing.dot(x + dx, y + dy + 14, 4, color)
    for x, y, code in (
        (60, 36, "000"), (235, 36, "100"), (372, 60, "101"),
        (60, 240, "010"), (211, 246, "110"), (340, 248, "111"),
    ):  # fmt: skip
        drawing.text(x, y, code, "text", 16, "middle", "bold")
    for x, y, name in ((128, 24, "bit 1"), (14, 114, "bit 2"), (300, 24, "bit 3")):
        drawing.text(x, y, name, "blue", 13)
    drawing.text(
        210, 281, "Each line is one bit: 0 on one side, 1 on the other.", "quiet", 14, "middle"
    )
    return drawing


def distances(colors):
    """A query, five codes, their differing bits, and the ranking."""
    drawing = Drawing(236, colors)
    query, codes = "10110", ("10110", "10010", "10111", "00110", "01001")
    drawing.text(10, 26, "query", "text", 15)
    _bits(drawing, 100, 10, query, query)
    drawing.text(240, 26, "Hamming distance", "quiet")
    for row, code in enumerate(codes):
        y = 56 + 36 * row
        drawing.text(10, y + 16, f"item {'ABCDE'[row]}", "text", 15)
        _bits(drawing, 100, y, code, query)
        distance = sum(a != b for a, b in zip(code, query))
        drawing.text(240, y + 16, str(distance), "text", 15, weight="bold")
        if distance == 1:
            drawing.text(262, y + 16, "tied", "orange", 14)
    return drawing


def _bits(drawing, x, y, code, query):
    for place, (bit, wanted) in enumerate(zip(code, query)):
        drawing.box(x + 25 * place, y, 22, 22, stroke="line" if bit == wanted else "orange")
        color = "text" if bit == wanted else "orange"
        drawing.text(x + 25 * place + 11, y + 16, bit, color, 14, "middle", "bold")


def tie_orders(colors):
    """All orders of a tie of two relevant and one irrelevant item, with their AP, and the mean."""
    orders = sorted(set(permutations((1, 1, 0))), reverse=True)
    values = [_average_precision((0, *order)) for order in orders]
    histogram = RetrievalHistogram([[[1, 1], [0, 2]]], levels=[0, 1])
    exact = histogram.average_precision()[0]
    assert np.isclose(np.mean(values), exact)
    drawing = Drawing(222, colors)
    drawing.text(10, 22, "distance 0", "quiet")
    drawing.text(110, 22, "distance 1: a tie of three", "quiet")
    drawing.text(410, 22, "AP", "quiet", anchor="end")
    for row, (order, value) in enumerate(zip(orders, values)):
        y = 36 + 36 * row
        drawing.item(34, y, False)
        for place, is_relevant in enumerate(order):
            drawing.item(110 + 28 * place, y, is_relevant)
        drawing.text(410, y + 15, f"{value:.3f}", "text", 15, "end")
    drawing.line(10, 150, 410, 150)
    drawing.text(10, 174, "mean over all orders: AP_T", "text", 15, weight="bold")
    drawing.text(410, 174, f"{exact:.3f}", "text", 15, "end", "bold")
    drawing.item(10, 192, True)
    drawing.text(36, 206, "relevant", "quiet")
    drawing.item(120, 192, False)
    drawing.text(146, 206, "not relevant", "quiet")
    return drawing


def _average_precision(hits):
    hits = np.asarray(hits, dtype=bool)
    return float(np.mean(np.cumsum(hits)[hits] / (np.flatnonzero(hits) + 1)))


def tie_scores(colors):
    """Average precision of the same 16-bit codes of digits, by who orders the ties."""
    values = tie_values()
    drawing = Drawing(60 + 44 * len(values), colors)
    drawing.box(0, 0, WIDTH, drawing.height, "page", None, 8)
    drawing.text(14, 28, "Average precision of the same codes", "text", 17, weight="bold")
    for row, (name, value) in enumerate(sorted(values.items(), key=lambda each: each[1])):
        y = 48 + 44 * row
        is_exact = name.startswith("exact")
        drawing.text(14, y + 11, name, "text", 14, weight="bold" if is_exact else "normal")
        drawing.box(14, y + 17, 330 * value / 0.4, 14, "blue" if is_exact else "line", None, 3)
        drawing.text(20 + 330 * value / 0.4, y + 29, f"{value:.3f}", "text", 14, weight="bold")
    return drawing


def tie_values():
    """Return what six ways to score one ranking give. Rows are sorted by class, as often."""
    X, y = load_digits(return_X_y=True)
    X, X_query, y, y_query = train_test_split(X, y, test_size=200, stratify=y, random_state=0)
    by_class = np.argsort(y, kind="stable")
    hasher = LSHHasher(n_bits=16, random_state=0).fit(X[by_class])
    queries, codes, y = hasher.predict(X_query), hasher.predict(X[by_class]), y[by_class]
    counts = retrieval_histogram(queries, codes, y_query, y)
    pairs = list(zip(hamming_distances(queries, codes), y_query[:, None] == y))
    random = np.random.default_rng(0).permutation(len(y))

    def mean(score: Callable) -> float:
        return float(np.mean([score(distance, hits) for distance, hits in pairs]))

    return {
        "the worst order": float(counts.average_precision(ties="pessimistic").mean()),
        "scikit-learn's average_precision_score": mean(
            lambda distance, hits: average_precision_score(hits, -distance)
        ),
        "rows in random order": mean(
            lambda d, hits: _average_precision(hits[random][np.argsort(d[random], kind="stable")])
        ),
        "exact mean over all orders": float(counts.average_precision().mean()),
        "rows in the order of the file": mean(
            lambda d, hits: _average_precision(hits[np.argsort(d, kind="stable")])
        ),
        "the best order": float(counts.average_precision(ties="optimistic").mean()),
    }


def relevance(colors):
    """Levels of relevance of four items for one query, by the form of y."""
    drawing = Drawing(232, colors)
    rows = (
        ("class labels", "cat", ("cat", "dog", "cat", "car"), (1, 0, 1, 0)),
        ("multilabel", "a b", ("a b c", "b", "c", "a"), (2, 1, 0, 1)),
        ("hierarchical", "pet/cat", ("pet/cat", "pet/dog", "car", "pet/dog"), (2, 1, 0, 1)),
    )
    for block, (form, query, items, levels) in enumerate(rows):
        y = 8 + 74 * block
        drawing.text(10, y + 14, form, "quiet", 13)
        drawing.text(10, y + 40, query, "blue", 15, weight="bold")
        for place, (item, level) in enumerate(zip(items, levels)):
            x = 96 + 82 * place
            drawing.box(x, y + 4, 76, 26, "shade" if level else None)
            drawing.text(x + 38, y + 22, item, "text", 13, "middle")
            color = "green" if level else "quiet"
            drawing.text(x + 38, y + 50, f"level {level}", color, 13, "middle")
    return drawing


def histogram(colors):
    """Counts by distance, and average precision from them."""
    counts = np.array([[[0, 2, 6, 12], [3, 2, 1, 0]]])
    h = RetrievalHistogram(counts, levels=[0, 1])
    drawing = Drawing(262, colors)
    for distance in range(4):
        x = 40 + 92 * distance
        y = 210
        for level, color in ((1, "green"), (0, "line")):
            height = 12 * counts[0, level, distance]
            y -= height
            if height:
                drawing.box(x, y, 60, height - 2, color if level else None, color, 2)
        drawing.text(x + 30, 228, str(distance), "text", 14, "middle")
    drawing.line(30, 210, 400, 210)
    drawing.text(215, 248, "Hamming distance to the query", "quiet", 14, "middle")
    drawing.item(40, 6, True)
    drawing.text(64, 20, "relevant", "quiet")
    drawing.item(140, 6, False)
    drawing.text(164, 20, "not relevant", "quiet")
    drawing.text(40, 52, f"AP_T = {h.average_precision()[0]:.3f}", "text", 16, weight="bold")
    drawing.text(
        40, 74, f"lookup precision, radius 1 = {h.lookup_precision(radius=1)[0]:.3f}", "text", 14
    )
    return drawing


def ball(colors):
    """Codes in the ball of radius 1 around a code of three bits, and their fill."""
    drawing = Drawing(250, colors)
    for panel, (title, counts) in enumerate(
        (("evenly filled", (3, 3, 3, 3)), ("one full code", (9, 1, 1, 1)))
    ):
        x0 = 20 + 210 * panel
        drawing.text(x0, 22, title, "text", 15, weight="bold")
        top = max(counts)
        drawing.box(x0, 200 - 17 * top, 168, 17 * top, stroke="orange", radius=0)
        for place, (code, count) in enumerate(zip(("101", "001", "111", "100"), counts)):
            x = x0 + 42 * place
            drawing.box(x + 4, 200 - 17 * count, 34, 17 * count, "blue", None, 2)
            drawing.text(x + 21, 218, code, "text", 13, "middle")
        fill = sum(counts) / (top * len(counts))
        drawing.text(x0, 242, f"φ = {sum(counts)} / ({top} · 4) = {fill:.2f}", "text", 14)
    return drawing


def splits(colors):
    """Which rows are trained on, searched with and searched for, in three protocols."""
    drawing = Drawing(248, colors)
    queries, training, rest = ("queries", 70), ("training", 110), ("", 200)
    protocols = (
        ("Seen classes", (queries, training, rest), 90, 310),
        ("New classes", (("training", 180), queries, ("", 130)), 270, 130),
    )
    color_of = {"queries": "orange", "training": "blue", "": "shade"}
    for row, (title, parts, start, width) in enumerate(protocols):
        y = 10 + 112 * row
        drawing.text(20, y + 14, title, "text", 15, weight="bold")
        x = 20
        for name, length in parts:
            color = color_of[name]
            drawing.box(x, y + 24, length - 4, 34, color if color == "shade" else None, color)
            drawing.text(x + (length - 4) / 2, y + 46, name, "text", 13, "middle")
            x += length
        drawing.line(start, y + 70, start + width, y + 70, "green", 3)
        drawing.text(start + width / 2, y + 90, "database", "green", 14, "middle")
    drawing.text(20, 240, "Queries are never in the database.", "quiet", 14)
    return drawing


def pipeline(colors):
    """From rows to scores."""
    drawing = Drawing(196, colors)
    top = (("rows X", 70), ("hasher", 70), ("codes", 70), ("search", 74))
    x = 10
    for place, (name, width) in enumerate(top):
        is_tool = name in ("hasher", "search")
        drawing.box(x, 20, width, 40, "shade" if is_tool else None)
        drawing.text(x + width / 2, 45, name, "text", 14, "middle")
        if place < 3:
            drawing.arrow(x + width + 4, x + width + 34, 40)
        x += width + 38
    drawing.line(261, 60, 261, 108, "quiet")
    x = 10
    for place, (name, width) in enumerate(
        (("y", 30), ("affinity", 76), ("histogram", 90), ("metrics", 80))
    ):
        drawing.box(x, 110, width, 40, "shade" if name == "affinity" else None)
        drawing.text(x + width / 2, 135, name, "text", 14, "middle")
        if place < 3:
            drawing.arrow(x + width + 4, x + width + 36, 130)
        x += width + 40
    drawing.text(10, 184, "Codes give distances; y gives relevance.", "quiet", 14)
    return drawing


def soft_counts(colors):
    """How an item between two distances is shared by two bins of a histogram."""
    drawing = Drawing(166, colors)
    item, bins = 2.3, np.arange(5)
    for place, share in zip(bins, np.clip(1 - np.abs(bins - item), 0, 1)):
        x = 50 + 80 * place
        if share:
            drawing.box(x - 25, 104 - 100 * share, 50, 100 * share, "shade", "blue", 2)
            drawing.text(x, 94 - 100 * share, f"{share:.1f}", "blue", 15, "middle", "bold")
        drawing.text(x, 130, str(place), "text", 14, "middle")
    drawing.line(20, 104, 400, 104)
    drawing.dot(50 + 80 * item, 104, 6, "orange")
    drawing.text(
        210, 156, f"An item at the soft distance {item} counts in two bins.", "quiet", 14, "middle"
    )
    return drawing


def zones(colors):
    """Distances that cost nothing for pairs of a class and for other pairs."""
    drawing = Drawing(196, colors)
    start, length = 20, 380
    for place, name in ((0, "0"), (1 / 6, "b/6"), (1 / 3, "b/3"), (1 / 2, "b/2"), (1, "b")):
        x = start + length * place
        drawing.line(x, 112, x, 120)
        drawing.text(x, 138, name, "text", 14, "middle")
    drawing.box(start + length / 6, 72, length / 6, 40, "green", None, 0)
    drawing.box(start + length / 2, 72, length / 2, 40, "orange", None, 0)
    drawing.line(start, 112, start + length, 112)
    drawing.text(start + length / 4, 40, "pairs of a class", "green", 15, "middle")
    drawing.text(start + length / 4, 60, "cost nothing here", "green", 13, "middle")
    drawing.text(start + 3 * length / 4, 40, "other pairs", "orange", 15, "middle")
    drawing.text(start + 3 * length / 4, 60, "cost nothing here", "orange", 13, "middle")
    drawing.text(210, 166, "Hamming distance of a pair, codes of b bits", "quiet", 14, "middle")
    drawing.text(210, 186, 'objective="dispersed"', "quiet", 14, "middle")
    return drawing


def anchors(colors):
    """The curved border of a bit that compares rows with anchors."""
    drawing = Drawing(262, colors)
    rng = np.random.default_rng(1)
    center = np.array([210, 112])
    angles = np.arange(60) * 2.4 + rng.uniform(-0.1, 0.1, 60)
    inside = np.arange(60) < 22
    radii = np.where(inside, rng.uniform(5, 45, 60), rng.uniform(78, 100, 60))
    points = center + radii[:, None] * np.c_[1.7 * np.cos(angles), np.sin(angles)]
    chosen = np.r_[:8, 22:46]  # anchors of both classes

    def projection(at):
        """Weighted difference of the mean kernels with the anchors of the two classes."""
        kernels = np.exp(-((at - points[chosen]) ** 2).sum(axis=1) / 3000)
        return kernels[inside[chosen]].mean() - 1.8 * kernels[~inside[chosen]].mean()

    for point, is_inside in zip(points, inside):
        drawing.dot(*point, 4, "green" if is_inside else "orange")
    for x, y in points[chosen]:
        drawing.dot(x, y, 8, stroke="line")
    directions = np.c_[np.cos(turns := np.linspace(0, 2 * np.pi, 61)), np.sin(turns)]
    steps = np.arange(1, 160)
    ends = [next(r for r in steps if projection(center + r * way) < 0) for way in directions]
    border = center + np.array(ends)[:, None] * directions
    for (x1, y1), (x2, y2) in pairwise(border):
        drawing.line(round(x1), round(y1), round(x2), round(y2), "blue", 2)
    drawing.text(210, 238, "The border of one bit, from kernels with", "quiet", 14, "middle")
    drawing.text(210, 256, "anchors (circled rows)", "quiet", 14, "middle")
    return drawing


DRAWINGS = (
    hyperplanes, distances, tie_orders, relevance, histogram, ball, splits, pipeline,
    soft_counts, zones, anchors,
)  # fmt: skip


def drawn() -> dict[str, str]:
    """Return the text of every file."""
    files = {
        f"{draw.__name__}-{theme}.svg": draw(colors).svg()
        for draw in DRAWINGS
        for theme, colors in THEMES.items()
    }
    return files | {"ties.svg": tie_scores(THEMES["light"]).svg()}


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in drawn().items():
        (FOLDER / name).write_text(text, "utf-8")
