"""Networks learn with the losses: in a plain loop, and in skorch."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from skorch import NeuralNet

from sklearn_hashrank._utils.extras import how_to_install
from sklearn_hashrank.deep import PairwiseLoss, TieAwareLoss
from sklearn_hashrank.metrics import tie_aware_average_precision_score
from sklearn_hashrank.objectives import AveragePrecision

N_BITS = 16


class Network(torch.nn.Sequential):
    def __init__(self):
        super().__init__(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, N_BITS))


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return torch.from_numpy((X / 16).astype(np.float32)), torch.from_numpy(y)


def score(scores, y):
    return tie_aware_average_precision_score(np.asarray(y), np.asarray(scores) > 0)


@pytest.mark.parametrize(
    "loss",
    [TieAwareLoss(AveragePrecision(alpha_end=4.0)), PairwiseLoss("dispersed")],
    ids=["ap", "dispersed"],
)
def test_plain_loop(loss, digits):
    X, y = digits
    torch.manual_seed(0)
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    with torch.no_grad():
        before = score(network(X[1000:]), y[1000:])
    for step in range(150):
        loss.anneal(step / 150) if isinstance(loss, TieAwareLoss) else None
        rows = torch.randperm(1000)[:200]
        optimizer.zero_grad()
        loss(network(X[rows]), y[rows]).backward()
        optimizer.step()
    with torch.no_grad():
        after = score(network(X[1000:]), y[1000:])
    assert after > max(0.65, before + 0.2)


def test_skorch(digits):
    X, y = digits
    torch.manual_seed(0)
    net = NeuralNet(
        Network,
        criterion=TieAwareLoss,
        criterion__objective="ndcg",
        optimizer=torch.optim.Adam,
        lr=1e-2,
        batch_size=200,
        max_epochs=20,
        iterator_train__shuffle=True,
        verbose=0,
    )
    net.fit(X[:1000], y[:1000])
    losses = net.history[:, "train_loss"]
    assert losses[-1] < losses[0]
    assert score(net.predict(X[1000:]), y[1000:]) > 0.8


def test_package_is_free_of_torch():
    code = "import sys, sklearn_hashrank; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_missing_torch_is_named():
    code = "import sklearn_hashrank, sys; sys.modules['torch'] = None; import sklearn_hashrank.deep"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert how_to_install("deep") in done.stderr
