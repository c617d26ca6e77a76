"""
Fine-tune a convolutional network
=================================

You have a network that was trained to classify images, and want codes to retrieve them by.
:class:`~sklearn_hashrank.deep.DeepHasher` takes the network without its last layer, adds a layer of
one output per bit, and trains both for the tie-aware average precision. Here the network is small,
and so are the images.

Run it with the folder of Fashion-MNIST's idx files to use those images instead of the digits.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

from sklearn_hashrank import ITQHasher, TALRLinear
from sklearn_hashrank.codes import hamming_distances
from sklearn_hashrank.deep import DeepHasher
from sklearn_hashrank.metrics import make_retrieval_scorer

N_BITS = 16

if len(sys.argv) > 1:
    from sklearn_hashrank.datasets import fetch_fashion_mnist

    X, y = fetch_fashion_mnist(
        data_home=sys.argv[1], subset="test", download_if_missing=False, return_X_y=True
    )
    images = X.reshape(-1, 28, 28).astype(np.float32) / 255
else:
    digits = load_digits()
    images, y = digits.images.astype(np.float32) / 16, digits.target

train, query, y_train, y_query = train_test_split(
    images, y, train_size=0.5, stratify=y, random_state=0
)

# %%
# Train a classifier
# ------------------
# Two convolutions give the features; a linear layer gives the classes.
torch.manual_seed(0)
torch.set_num_threads(1)
side = images.shape[1] // 4
features = nn.Sequential(
    nn.Conv2d(1, 32, 3, padding=1),
    nn.BatchNorm2d(32),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(32, 64, 3, padding=1),
    nn.BatchNorm2d(64),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(64 * side**2, 128),
    nn.ReLU(),
)
classifier = nn.Sequential(features, nn.Linear(128, 10))
inputs, classes = torch.from_numpy(train[:, None]), torch.from_numpy(y_train.astype(np.int64))
optimizer = torch.optim.AdamW(classifier.parameters(), lr=1e-3)
for _ in range(5):
    for rows in torch.randperm(len(inputs)).split(128):
        optimizer.zero_grad()
        nn.functional.cross_entropy(classifier(inputs[rows]), classes[rows]).backward()
        optimizer.step()
classifier.eval()
with torch.no_grad():
    found = classifier(torch.from_numpy(query[:, None])).argmax(dim=1).numpy()
    of_query = features(torch.from_numpy(query[:, None])).numpy()
    of_train = features(inputs).numpy()
print(f"the classifier is right for {np.mean(found == y_query):.3f} of the other images")

# %%
# Train codes
# -----------
# The features can stay as they are, with a linear hasher on top; or the new layer alone is learned,
# with ``trunk_learning_rate=0``; or all of the network is, in smaller steps. The network that you
# pass is copied. Arrays of images go in as they are, and retrieval is scored as for any hasher:
# images that the network did not see retrieve the training images.
scores = {}
linear = TALRLinear(N_BITS, random_state=0).fit(train.reshape(len(train), -1), y_train)
on_features = {
    "ITQ on the features": ITQHasher(N_BITS, random_state=0),
    "TALR on the features": TALRLinear(N_BITS, random_state=0),
}
networks = {
    "network, new layer alone": DeepHasher(features, N_BITS, trunk_learning_rate=0, random_state=0),
    "network, fine-tuned": DeepHasher(features, N_BITS, random_state=0),
}
evaluate = make_retrieval_scorer("ap", database="fit")
scores["TALR on the pixels"] = evaluate(linear, query.reshape(len(query), -1), y_query)
for name, hasher in on_features.items():
    scores[name] = evaluate(hasher.fit(of_train, y_train), of_query, y_query)
for name, hasher in networks.items():
    scores[name] = evaluate(hasher.fit(train, y_train), query, y_query)
print(f"tie-aware AP, {N_BITS} bits, {len(query)} queries, {len(train)} items")
for name, score in scores.items():
    print(f"{name:26s} {score:.3f}")

# %%
# Look at what is retrieved
# -------------------------
# The nearest training images of some queries, by the codes of the fine-tuned network.
tuned = networks["network, fine-tuned"]
shown = [int(np.flatnonzero(y_query == label)[0]) for label in range(6)]
distances = hamming_distances(tuned.transform(query[shown]), tuned.transform(train))
nearest = np.argsort(distances, axis=1, kind="stable")[:, :8]
figure, axes = plt.subplots(len(shown), 9, figsize=(7, 5), layout="constrained")
for row, (place, neighbors) in enumerate(zip(shown, nearest)):
    for axis, image in zip(axes[row], [query[place], *train[neighbors]]):
        axis.imshow(image, cmap="gray_r")
        axis.set(xticks=[], yticks=[])
axes[0, 0].set_title("query", fontsize="small")
axes[0, 1].set_title("nearest", fontsize="small")
plt.show()
