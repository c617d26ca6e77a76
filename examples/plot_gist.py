"""
GIST features of photographs
============================

GIST says how much there is of each scale and direction in each part of an image, whatever its
brightness. Here it describes tiles of the two photographs that come with scikit-learn; then codes
of the tiles find again where a darkened, shifted, noisy tile was cut out.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_images
from sklearn.preprocessing import StandardScaler

from sklearn_hashrank import ITQHasher, PrecomputedAffinity, retrieval_histogram
from sklearn_hashrank.codes import hamming_distances
from sklearn_hashrank.feature_extraction import GIST, gabor_filters

photographs = load_sample_images().images
colors = ["#0072B2", "#E69F00", "#009E73", "#CC79A7"]  # of the scales; safe for color-blind eyes

# %%
# The filters and a descriptor
# ----------------------------
#
# Each filter passes the frequencies around one center: 4 scales, from fine (outside) to coarse, by
# 8 directions. Its outline is drawn at half its height. The descriptor is the mean magnitude of
# each filtered image in 4 x 4 blocks; the curves in a block reach as far in each direction as there
# are edges that run that way.
tile = photographs[0][20:340, 150:470]
gist = GIST(n_jobs=2)
descriptor = gist.transform(tile[None])[0].reshape(4, 8, 4, 4)  # scale, direction, column, row

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
left.imshow(tile)
left.set(title="image", xticks=[], yticks=[])
size = 128
frequencies = np.fft.fftshift(np.fft.fftfreq(size))
for index, transfer in enumerate(gabor_filters((size, size))):
    scale = index // 8
    middle.contour(
        frequencies, frequencies, np.fft.fftshift(transfer), levels=[0.5], colors=colors[scale]
    )
middle.set(xlabel="cycles per pixel, across", ylabel="cycles per pixel, down", aspect="equal")
middle.set(title="filters", xlim=(-0.5, 0.5), ylim=(0.5, -0.5))
right.imshow(tile.mean(axis=2), cmap="gray", alpha=0.35, extent=(0, 4, 4, 0))
# An edge runs across the wave that it consists of.
angles = np.pi / 2 - np.pi * np.arange(17) / 8
for scale, color in enumerate(colors):
    for column, row in np.ndindex(4, 4):
        lengths = descriptor[scale, :, column, row] / descriptor[scale].max()
        outline = 0.48 * np.resize(lengths, 17)
        x, y = column + 0.5 + outline * np.cos(angles), row + 0.5 + outline * np.sin(angles)
        right.plot(x, y, color=color, label=f"scale {scale}" if column == row == 0 else None)
right.set(title="descriptor", xticks=range(5), yticks=range(5), xticklabels=[], yticklabels=[])
right.grid(color="black", linewidth=0.5)
figure.legend(loc="outside lower center", ncols=4)
plt.show()

# %%
# Which place is this?
# --------------------
#
# The database: tiles of 48 x 48 pixels every 12 pixels, except the empty ones. The queries: tiles
# from places in between, darkened, with less contrast and with noise. A tile is relevant if it is
# at most 12 pixels away.
side = 48
places = np.array(
    [
        (number, row, column)
        for number, photograph in enumerate(photographs)
        for row in range(0, photograph.shape[0] - side, 12)
        for column in range(0, photograph.shape[1] - side, 12)
    ]
)


def cut(places):
    """Tiles at places (photograph, row, column)."""
    return np.stack([photographs[i][r : r + side, c : c + side] for i, r, c in places])


tiles = cut(places)
textured = tiles.mean(axis=3).std(axis=(1, 2)) > 20
places, tiles = places[textured], tiles[textured]
rng = np.random.default_rng(0)
queries = places[rng.choice(len(places), 200, replace=False)]
queries = queries + [0, 3, 3] * rng.choice([-1, 1], (200, 3))
queries = np.clip(queries, 0, [1, 427 - side, 640 - side])
views = np.clip(0.5 * cut(queries) + rng.normal(0, 3, (200, side, side, 3)), 0, 255)

offsets = np.abs(queries[:, None] - places).max(axis=2, where=[False, True, True], initial=0)
near = (queries[:, None, 0] == places[:, 0]) & (offsets <= 12)
print(f"{len(tiles)} tiles, {len(views)} queries with {near.sum(axis=1).mean():.1f} tiles nearby")


# %%
# The same hasher on GIST features and on gray pixels; these get the same mean and contrast in each
# tile, for a fair comparison. `PrecomputedAffinity` takes relevance that is given as a matrix.
def grey_pixels(images):
    """Rows of gray pixels at half the resolution, standardized image by image."""
    gray = images.reshape(len(images), side // 2, 2, side // 2, 2, 3).mean(axis=(2, 4, 5))
    return StandardScaler().fit_transform(gray.reshape(len(images), -1).T).T


features = {
    "pixels": (grey_pixels(views), grey_pixels(tiles)),
    "GIST": (gist.transform(views), gist.transform(tiles)),
}
distances = {}
print("bits   pixels    GIST    average precision")
for n_bits in (16, 32, 64):
    scores = []
    for name, (query_rows, rows) in features.items():
        hasher = ITQHasher(n_bits, random_state=0).fit(rows)
        codes = hasher.predict(query_rows), hasher.predict(rows)
        histogram = retrieval_histogram(
            *codes,
            np.arange(len(views)),
            np.arange(len(tiles)),
            affinity=PrecomputedAffinity(near.astype(int)),
        )
        scores.append(histogram.average_precision().mean())
        distances[name] = hamming_distances(*codes)
    print(f"{n_bits:4d}   {scores[0]:6.3f}  {scores[1]:6.3f}")

# %%
# Four queries and their nearest tiles by 64 bits of GIST; a cross marks those that are not nearby.
shown = [0, 1, 2, 3]
figure, axes = plt.subplots(len(shown), 8, figsize=(10, 5.4), layout="constrained")
for line, query in zip(axes, shown):
    line[0].imshow(views[query].astype(np.uint8))
    for place, item in zip(line[1:], np.argsort(distances["GIST"][query], kind="stable")):
        place.imshow(tiles[item])
        if not near[query, item]:
            place.text(
                2, 12, "✕", color="white", weight="bold", bbox={"color": "#D55E00", "pad": 1}
            )
for axis in axes.flat:
    axis.set(xticks=[], yticks=[])
axes[0, 0].set_title("query")
axes[0, 1].set_title("nearest", loc="left")
plt.show()
