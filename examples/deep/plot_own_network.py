"""
Train your own network in your own loop
=======================================

:class:`~sklearn_hashrank.deep.TieAwareLoss` and :class:`~sklearn_hashrank.deep.PairwiseLoss` are
losses like any other in torch: the network, the loop and the optimizer are yours. After training
the bit is 1 where a score is above 0, and all of the evaluation works on the bits. This example
trains one network by three losses and follows two measures from pass to pass.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

from sklearn_hashrank import retrieval_histogram
from sklearn_hashrank.deep import PairwiseLoss, TieAwareLoss

N_BITS, N_PASSES, BATCH = 16, 15, 128

digits = load_digits()
images = digits.images[:, None].astype(np.float32) / 16
train, query, y_train, y_query = train_test_split(
    images, digits.target, test_size=300, stratify=digits.target, random_state=0
)


# %%
# The last layer has one output per bit. Keep its outputs at mean 0 and unit variance, for the sake
# of the tie-aware losses: scores far beyond 1 are in the flat part of the relaxed codes.
class Network(nn.Module):
    """Two convolutions, the second of which is added to what comes in."""

    def __init__(self, n_bits):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU())
        self.bits = nn.Sequential(
            nn.Linear(32 * 4 * 4, n_bits), nn.BatchNorm1d(n_bits, affine=False)
        )

    def forward(self, images):
        """Return a score for each image and bit."""
        maps = self.first(images)
        maps = maps + self.second(maps)
        return self.bits(nn.functional.max_pool2d(maps, 2).flatten(1))


def encode(network, images):
    """Return the bits of some images."""
    network.eval()
    with torch.no_grad():
        bits = network(torch.from_numpy(images)) > 0
    network.train()
    return bits.numpy()


# %%
# Average precision asks for an order, and is best where each class has one code. Mean local group
# average precision (mLGAP) also asks that the items near a query are spread over many codes; the
# dispersed objective is made for it.
def evaluate(network):
    """Return AP and mLGAP of new images that retrieve the training images."""
    codes = encode(network, query), encode(network, train)
    histogram = retrieval_histogram(*codes, y_query, y_train, keep_codes=True)
    mlgap = histogram.local_group_average_precision(radius=2)
    return histogram.average_precision().mean(), mlgap.mean()


# %%
# The loop is the usual one. Each row of a batch is a query against the others, so batches are
# shuffled; the last one, which may be small, is left out.
def learn(loss):
    """Train a network; return its measures after each pass."""
    torch.manual_seed(0)
    network = Network(N_BITS)
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3)
    X, y = torch.from_numpy(train), torch.from_numpy(y_train)
    measured = []
    for _ in range(N_PASSES):
        for rows in torch.randperm(len(X)).split(BATCH)[:-1]:
            optimizer.zero_grad()
            loss(network(X[rows]), y[rows]).backward()
            optimizer.step()
        measured.append(evaluate(network))
    return np.array(measured)


torch.set_num_threads(1)
losses = {
    'TieAwareLoss("ap")': TieAwareLoss("ap"),
    'PairwiseLoss("dsh")': PairwiseLoss("dsh"),
    'PairwiseLoss("dispersed")': PairwiseLoss("dispersed"),
}
curves = {name: learn(loss) for name, loss in losses.items()}
print(f"{N_BITS} bits, {len(query)} queries, {len(train)} items, after {N_PASSES} passes")
for name, curve in curves.items():
    print(f"{name:26s} AP {curve[-1, 0]:.3f}   mLGAP {curve[-1, 1]:.3f}")

# %%
# AP of all three grows from pass to pass. What they do to the neighborhood of a query differs.
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for axis, column, title in zip(axes, (0, 1), ("tie-aware AP", "mLGAP within radius 2")):
    for name, curve in curves.items():
        axis.plot(np.arange(1, N_PASSES + 1), curve[:, column], label=name)
    axis.set(title=title, xlabel="passes over the training images")
axes[1].legend(fontsize="small")
plt.show()
