"""Pages of explore in a browser: numbers, clicks, keys, links, widths and themes."""

import re
import time

import numpy as np
import pytest
from playwright.sync_api import expect

from sklearn_hashrank import (
    HammingNeighbors,
    HierarchicalAffinity,
    LSHHasher,
    NeighborAffinity,
    SignHasher,
    retrieval_histogram,
)
from sklearn_hashrank.explore import write_page
from sklearn_hashrank.metrics import code_usage
from tests.hostile import HOSTILE

WIDTHS = (1280, 768, 390)
BROKEN_WORDS = """
() => {
  const words = [];
  for (const place of document.querySelectorAll(".relevance")) {
    const { lastChild } = place;
    for (const found of lastChild.textContent.matchAll(/[a-z]+/g)) {
      const range = document.createRange();
      range.setStart(lastChild, found.index);
      range.setEnd(lastChild, found.index + found[0].length);
      if (range.getClientRects().length > 1) words.push(found[0]);
    }
  }
  return words;
}
"""
EVERY_QUERY = """
async () => {
  const found = [];
  const rows = [];
  const numberOf = (cell) => Number(cell.textContent.replaceAll(",", ""));
  for (let more; (more = document.querySelector(".queries .more:not([hidden])")); ) more.click();
  for (const link of document.querySelectorAll(".queries a")) rows.push(Number(link.dataset.row));
  for (const row of rows) {
    const moved = new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
    location.hash = `#query=${row}&nearest=20`;
    await moved;
    const columns = [...document.querySelectorAll(".results > .columns > .column")];
    found.push({
      row,
      heading: document.getElementById("neighbors").textContent,
      columns: columns.map((column) => ({
        measures: [...column.querySelectorAll("[data-measure]")].map((e) => ({ ...e.dataset })),
        counts: [...column.querySelectorAll(".histogram tbody tr")].map((tr) =>
          [...tr.querySelectorAll("td")].map(numberOf)),
        groups: [...column.querySelectorAll(".group")].map((group) => {
          for (let more; (more = group.querySelector(".more:not([hidden])")); ) more.click();
          return {
            heading: group.querySelector("h4").textContent,
            distance: Number(group.dataset.distance),
            rows: [...group.querySelectorAll("[data-row]")].map((item) => Number(item.dataset.row)),
            relevant: group.querySelectorAll(".is-relevant").length,
          };
        }),
        within: column.querySelector(".within").textContent,
      })),
    });
  }
  return found;
}
"""


def compare_with_python(found, model, X, y, affinity, queries, database, place):
    """Everything that a column says of every query, against the package."""
    codes = model.packed_codes(X)
    is_self = queries is None
    queries = np.arange(len(X)) if is_self else queries
    database = np.arange(len(X)) if is_self else database
    histogram = retrieval_histogram(
        codes[queries],
        codes[database],
        y[queries],
        y[database],
        affinity=affinity,
        n_bits=model.n_bits,
        exclude_self=is_self,
    )
    index = HammingNeighbors(n_bits=model.n_bits).fit(codes[database])
    expected = {
        (measure, order): histogram.measure(name, ties=ties)
        for measure, name in (("ap", "average_precision"), ("ndcg", "ndcg"))
        for order, ties in (
            ("value", "expected"),
            ("worst", "pessimistic"),
            ("best", "optimistic"),
        )
    }
    for query in found:
        row = int(np.flatnonzero(queries == query["row"])[0])
        column = query["columns"][place]
        counts = np.array(column["counts"]).T
        n_levels = len(histogram.levels)
        np.testing.assert_array_equal(counts[:n_levels], histogram.counts[row])
        assert not counts[n_levels:].any()
        for measure in column["measures"]:
            for order in ("value", "worst", "best"):
                value = expected[measure["measure"], order][row]
                assert float(measure[order]) == pytest.approx(value, abs=1e-12, nan_ok=True)
        radius = int(re.search(r"\d+", column["groups"][-1]["heading"])[0])
        distances, ids = (
            each[0]
            for each in index.radius_neighbors(codes[[query["row"]]], radius, sort_results=True)
        )
        ids = database[ids]
        distances, ids = distances[ids != query["row"]], ids[ids != query["row"]]
        assert [group["distance"] for group in column["groups"]] == sorted(set(distances.tolist()))
        for group in column["groups"]:
            assert group["rows"] == sorted(ids[distances == group["distance"]].tolist())
            relevant = histogram.counts[row][histogram.levels > 0, group["distance"]].sum()
            assert group["relevant"] == relevant
            assert f" {relevant:,} relevant" in group["heading"]
            if len(group["rows"]) > 1:
                assert f"{len(group['rows']):,} items tied" in group["heading"]
        assert column["within"].startswith(f"{len(ids):,} item")


def test_numbers_of_every_query(visit, pictures, digits, models):
    found = visit(pictures).ready().page.evaluate(EVERY_QUERY)
    assert len(found) == 100
    for place, model in enumerate(models.values()):
        compare_with_python(found, model, *digits, "auto", None, None, place)


def test_numbers_of_graded_relevance_and_a_split(visit, graded, digits, models, paths):
    found = visit(graded).ready().page.evaluate(EVERY_QUERY)
    assert [query["row"] for query in found] == list(range(60))
    split = np.arange(60), np.arange(60, 600)
    for place, model in enumerate(models.values()):
        compare_with_python(found, model, digits[0], paths, HierarchicalAffinity(), *split, place)


def test_numbers_where_the_nearest_rows_are_relevant(visit, near, digits, models):
    found = visit(near).ready().page.evaluate(EVERY_QUERY)
    X = digits[0][:400]
    compare_with_python(found, models["itq"], X, X, NeighborAffinity(10), None, None, 0)
    exact = [query["columns"][1] for query in found]
    for column in exact:  # relevant are the ten nearest by the same distance
        [group] = column["groups"]
        assert len(group["rows"]) == 20
        assert group["relevant"] >= 10
        assert float(column["measures"][0]["value"]) == pytest.approx(1)


def test_usage_is_that_of_code_usage(visit, pictures, digits, models):
    page = visit(pictures).ready().page
    page.get_by_text("Code usage").click()
    for place, model in enumerate(models.values()):
        usage = code_usage(model.packed_codes(digits[0]), n_bits=model.n_bits)
        said = page.locator(".usage").nth(place)
        assert int(said.get_attribute("data-distinct")) == usage.n_distinct
        assert float(said.get_attribute("data-collisions")) == pytest.approx(usage.collision_rate)
        section = page.locator(".usages .column").nth(place)
        counts = [
            int(n)
            for n in section.locator("[data-count]").evaluate_all(
                "each => each.map(e => e.dataset.count)"
            )
        ]
        assert counts == np.sort(usage.counts)[::-1][:8].tolist()
        fullest = section.locator("[data-code]").first.get_attribute("data-code")
        bits = np.unpackbits(usage.codes, axis=1, count=model.n_bits)
        assert fullest in {
            "".join(map(str, code)) for code in bits[usage.counts == usage.counts.max()]
        }


def test_a_click_on_a_neighbor_makes_it_the_query(visit, pictures):
    page = visit(pictures).ready().page
    neighbor = page.locator(".column .group a").nth(1)
    row = neighbor.get_attribute("data-row")
    neighbor.click()
    expect(page.locator("#neighbors")).to_contain_text(f"row {row}")
    assert f"query={row}" in page.url
    page.go_back()
    expect(page.locator("#neighbors")).not_to_contain_text(f"row {row}")


def test_a_link_restores_the_view(visit, pictures):
    first = visit(pictures, "#query=17&model=b").ready().page
    expect(first.locator("#neighbors")).to_contain_text("row 17")
    expect(first.locator("#model-heading")).to_have_text("lsh, 33 bits")
    expect(first.locator("#beside-heading")).to_have_text("itq, 16 bits")
    first.select_option("#beside-choice", "exact")
    first.locator("#model-reach").fill("9")
    first.select_option("#class", "3")
    first.select_option("#order", "worst")
    first.fill("#find", "3")
    again = visit(pictures, "#" + first.url.partition("#")[2]).ready().page
    for selector in ("#neighbors", "#beside-heading", ".reach label >> nth=0", "#found"):
        expect(again.locator(selector)).to_have_text(first.locator(selector).text_content())
    for selector in ("#model-reach", "#find", "#class", "#order", "#beside-choice"):
        assert again.input_value(selector) == first.input_value(selector)
    assert again.locator(".queries").text_content() == first.locator(".queries").text_content()


def test_queries_are_found_by_text_label_and_order(visit, pictures):
    page = visit(pictures).ready().page
    page.select_option("#class", "7")
    words = page.locator(".queries .word").all_text_contents()
    assert set(words) == {"7"}
    page.select_option("#order", "worst")
    notes = page.locator(".queries .item .quiet").all_text_contents()
    values = [float(note[3:]) for note in notes if note.startswith("AP ")]
    assert len(values) == len(words)
    assert values == sorted(values)
    page.select_option("#order", "best")
    page.select_option("#class", "")
    best = [n for n in page.locator(".queries .item .quiet").all_text_contents() if "AP" in n]
    assert best == sorted(best, reverse=True)
    page.fill("#find", "no such text")
    expect(page.locator("#found")).to_contain_text("No query")
    page.fill("#find", "1234")
    assert page.locator(".queries a").count() == 1


def test_what_one_finds_and_the_other_does_not(visit, pictures, digits, models):
    X, y = digits
    page = visit(pictures, "#query=10&radius-a=3&radius-b=8").ready().page
    sets = []
    for model, radius in zip(models.values(), (3, 8)):
        codes = model.packed_codes(X)
        [ids] = (
            HammingNeighbors(n_bits=model.n_bits)
            .fit(codes)
            .radius_neighbors(codes[[10]], radius)[1]
        )
        sets.append(set(ids.tolist()) - {10})
    relevant = set(np.flatnonzero(y == y[10]).tolist())
    first, second = sets
    both = page.locator(".both").get_attribute("data-relevant")
    assert int(both) == len(first & second & relevant)
    for place, only in enumerate((first - second, second - first)):
        said = page.locator(".only").nth(place)
        assert int(said.get_attribute("data-relevant")) == len(only & relevant)
        assert int(said.get_attribute("data-irrelevant")) == len(only - relevant)


def test_the_page_is_used_by_keys(visit, pictures):
    page = visit(pictures).ready().page
    heading = page.locator("#neighbors")
    first = heading.text_content()
    page.keyboard.press("n")
    expect(heading).not_to_have_text(first)
    page.keyboard.press("p")
    expect(heading).to_have_text(first)
    radius = page.locator(".reach label").first
    before = int(re.search(r"\d+", radius.text_content())[0])
    page.keyboard.press("]")
    expect(radius).to_have_text(re.compile(rf"Radius {before + 1} bit"))
    page.keyboard.press("s")
    expect(page.locator("#model-heading")).to_have_text("lsh, 33 bits")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "find"
    page.keyboard.type("rnp")  # a text, and no keys
    assert page.input_value("#find") == "rnp"
    page.fill("#find", "")
    page.keyboard.press("Tab")
    for _ in range(6):
        if page.evaluate("document.activeElement.closest('.queries') !== null"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    row = page.evaluate("document.activeElement.dataset.row")
    page.keyboard.press("Enter")
    expect(heading).to_contain_text(f"row {row}")
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_be_visible()
    page.locator("#use-keys").uncheck()
    page.keyboard.press("Escape")
    shown = heading.text_content()
    page.keyboard.press("n")
    expect(heading).to_have_text(shown)


def test_a_slider_changes_the_groups_and_no_history(visit, pictures):
    page = visit(pictures).ready().page
    steps = page.evaluate("history.length")
    slider = page.locator("#model-reach")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "model-reach"
    assert page.evaluate("history.length") == steps
    assert f"radius-a={slider.input_value()}" in page.url


def test_readers_of_screens_are_told(visit, pictures):
    page = visit(pictures).ready().page
    said = page.locator("#said")
    page.keyboard.press("n")
    expect(said).to_contain_text("relevant, precision")
    assert page.locator("#said").get_attribute("role") == "status"
    assert (
        page.locator(".queries a")
        .first.locator("canvas")
        .get_attribute("aria-label")
        .startswith("picture of")
    )


def test_relevance_is_not_told_by_colour_alone(visit, pictures):
    page = visit(pictures, "#radius-a=7").ready().page
    styles = {}
    for kind in ("is-relevant", "is-irrelevant"):
        item = page.locator(f".group .{kind}").first
        styles[kind] = item.locator("> *").evaluate("e => getComputedStyle(e).borderStyle")
        assert ("not relevant" in item.text_content()) == (kind == "is-irrelevant")
    assert styles == {"is-relevant": "solid", "is-irrelevant": "dashed"}


def test_pictures_are_drawn(visit, pictures, digits):
    page = visit(pictures, "#query=5").ready().page
    page.wait_for_timeout(200)
    pixels = page.locator(".query canvas").evaluate(
        "c => [...c.getContext('2d').getImageData(0, 0, 8, 8).data].filter((_, i) => i % 4 === 0)"
    )
    np.testing.assert_array_equal(pixels, np.round(digits[0][5] * 255 / 16))


def test_a_query_that_the_page_does_not_have(visit, near):
    page = visit(near, "#query=123456").ready().page
    expect(page.locator("#failure")).to_contain_text("Row 123456 cannot be a query")
    page.locator(".queries a").first.click()
    expect(page.locator("#failure")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["pictures", "graded", "near", "hostile", "report"])
def test_no_page_is_wider_than_its_window(visit, request, name, scheme):
    path = request.getfixturevalue(name)
    opened = visit(path, color_scheme=scheme)
    if name != "report":
        opened.ready()
        if name == "hostile":
            longest = HOSTILE.index(max(HOSTILE, key=len))
            opened.page.evaluate(f"location.hash = '#query={longest}'")
        opened.page.get_by_text("Code usage").click()
    for width in WIDTHS:
        opened.page.set_viewport_size({"width": width, "height": 800})
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        assert opened.page.evaluate(BROKEN_WORDS) == []
    background = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) > 384) == (scheme == "light")


def test_hostile_texts_are_texts(visit, hostile):
    opened = visit(hostile).ready()
    page = opened.page
    for row in range(len(HOSTILE)):
        page.evaluate(f"location.hash = '#query={row}'")
    page.get_by_text("Code usage").click()
    for text in HOSTILE:
        page.fill("#find", text)
    page.wait_for_timeout(100)
    assert page.locator("main img, main iframe, main script, main base, main style").count() == 0
    assert page.locator(f"text={HOSTILE[0]}").count() > 0
    page.goto(
        opened.address
        + "#query=%3Cscript%3E&class="
        + "%3Cimg%20src%3Dx%20onerror%3Dwindow.hacked%3D1%3E"
    )


def test_a_table_of_the_report_is_sorted(visit, report):
    page = visit(report).page
    table = page.locator("table[data-name=ap]")
    button = table.locator("thead button").nth(1)
    values = "rows => rows.map(row => Number(row.cells[1].dataset.mean))"
    rows = table.locator("tbody tr")
    before = rows.evaluate_all(values)
    button.click()
    assert rows.evaluate_all(values) == sorted(before, reverse=True)
    button.click()
    assert rows.evaluate_all(values) == sorted(before)
    button.click()
    assert rows.evaluate_all(values) == before


@pytest.mark.parametrize(("n_items", "n_bits", "side"), [(10_000, 64, 28), (100_000, 64, None)])
def test_time_to_open_and_to_answer(visit, folder, n_items, n_bits, side):
    """The times are printed, and not asserted: they are those of a machine with other work."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_items, n_bits)).astype(np.float32), rng.integers(0, 10, n_items)
    models = {"sign": SignHasher(n_bits).fit(X), "lsh": LSHHasher(n_bits, random_state=0).fit(X)}
    images = None if side is None else rng.integers(0, 256, (n_items, side, side), dtype=np.uint8)
    path = folder / f"{n_items}.html"
    written = write_page(path, models, X, y, images=images, queries=200, metric=None)
    start = time.perf_counter()
    page = visit(path).page
    page.wait_for_selector("#app[data-ready]", state="attached")
    opened = time.perf_counter() - start
    page.wait_for_selector("#summary[data-complete]", state="attached")
    times = page.evaluate(
        """() => Array.from(document.querySelectorAll(".queries a"), (link) => {
          const start = performance.now();
          link.click();
          dispatchEvent(new HashChangeEvent("hashchange"));
          document.body.getBoundingClientRect();
          return performance.now() - start;
        }).slice(0, 20)"""
    )
    print(
        f"\n{written.n_items:,} items, {written.n_bytes / 1e6:.1f} MB: open in {opened:.2f} s, "
        f"a query and its layout in {np.median(times):.0f} ms (worst of 20: {max(times):.0f} ms)"
    )
    assert page.locator(".group").count() > 0
