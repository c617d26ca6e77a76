"""Time of one training step (forward, backward, update) against direct formulations.

The direct formulation builds the M x M x bins array of kernel values, as deep-hashing code does;
in numpy with the gradient by hand, and in PyTorch with autograd where it is installed. All three
compute the same objective and the same gradient, which is checked first. One thread each. The
floor of the step are its four matrix products: projections, their gradient, similarities of the
codes, and the slopes of all pairs times the codes. The step adds the slopes of a pair from both
sides first, which saves a product for either side; the floor with five products is given, too.
Large batches are also measured with two threads: by the clock, which needs two free cores, and by
the time of the processor, which says on any machine how much more two threads take together.

    python -m benchmarks.speed.training_step
"""

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.sheet import Sheet, best_of
from sklearn_hashrank._solvers.stochastic import Adam
from sklearn_hashrank.objectives import DSH, NDCG, AveragePrecision, Dispersed


def time_of(function, n_calls):
    """Milliseconds of CPU of the fastest of some calls, whatever other processes do meanwhile."""
    function()
    return 1e3 * best_of(function, n_calls, time.process_time)[0]


def agree(gradient, expected):
    """Whether gradients are equal but for a few pairs that float32 puts beyond a kink."""
    return np.linalg.norm(gradient - expected) < 0.01 * np.linalg.norm(expected)


def direct_numpy(X, weights, relevant, n_bins):
    """Return the simplified relaxed AP and its gradient, every bin of every pair written out."""
    n_rows, n_bits = len(X), weights.shape[1]
    width = n_bits / n_bins
    codes = np.tanh(X @ weights)
    distance = (n_bits - codes @ codes.T) / 2
    centers = np.arange(n_bins + 1, dtype=X.dtype) * X.dtype.type(width)
    apart = (distance[:, :, None] - centers) / X.dtype.type(width)
    kernel = np.maximum(1 - np.abs(apart), 0)
    others = 1 - np.eye(n_rows, dtype=X.dtype)
    kernel *= others[:, :, None]
    items = kernel.sum(axis=1)
    gain = (kernel * relevant[:, :, None]).sum(axis=1)
    n_relevant = (relevant * others).sum(axis=1, keepdims=True)
    above = 2 * np.cumsum(gain, axis=1) - gain + 1
    ranks = 2 * np.cumsum(items, axis=1) - items + 1
    value = (gain * above / ranks / n_relevant).sum() / n_rows

    def farther(x):
        return np.cumsum(x[:, ::-1], axis=1)[:, ::-1] - x

    by_above = gain / ranks / n_relevant / n_rows
    by_ranks = -by_above * above / ranks
    by_gain = above / ranks / n_relevant / n_rows + by_above + 2 * farther(by_above)
    by_items = by_ranks + 2 * farther(by_ranks)
    by_kernel = by_items[:, None, :] + relevant[:, :, None] * by_gain[:, None, :]
    by_kernel *= others[:, :, None]
    slope = np.where(np.abs(apart) < 1, -np.sign(apart), 0) / X.dtype.type(width)
    by_distance = (by_kernel * slope).sum(axis=2)
    by_codes = -0.5 * (by_distance + by_distance.T) @ codes
    return value, X.T @ (by_codes * (1 - codes**2))


def direct_torch(torch, X, weights, relevant, n_bins):
    """Return the same by autograd."""
    n_rows, n_bits = len(X), weights.shape[1]
    width = n_bits / n_bins
    codes = torch.tanh(X @ weights)
    distance = (n_bits - codes @ codes.T) / 2
    centers = torch.arange(n_bins + 1, dtype=X.dtype) * width
    kernel = torch.relu(1 - (distance[:, :, None] - centers).abs() / width)
    others = 1 - torch.eye(n_rows, dtype=X.dtype)
    kernel = kernel * others[:, :, None]
    items = kernel.sum(dim=1)
    gain = (kernel * relevant[:, :, None]).sum(dim=1)
    n_relevant = (relevant * others).sum(dim=1, keepdim=True)
    above = 2 * torch.cumsum(gain, dim=1) - gain + 1
    ranks = 2 * torch.cumsum(items, dim=1) - items + 1
    return (gain * above / ranks / n_relevant).sum() / n_rows


def measure(sheet, n_rows=256, n_bits=32, n_features=512, n_bins=None):
    """Times of a step; the direct formulations are checked to compute the same first."""
    with threadpool_limits(1):
        _measure(sheet, n_rows, n_bits, n_features, n_bins or n_bits)


def measure_threads(sheet, n_rows=2048, n_bits=32, n_jobs=2):
    """Times of the objectives of a large batch, with one thread and with several."""
    sheet.section(f"Objectives of a batch of {n_rows:,} rows, {n_bits} bits: {n_jobs} threads")
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(n_rows, n_bits)).astype(np.float32)
    labels, levels = rng.integers(0, 200, n_rows), np.array([0.0, 1.0])
    level = (labels[:, None] == labels).view(np.uint8)
    with threadpool_limits(1, user_api="blas"):
        for Objective in (AveragePrecision, NDCG, Dispersed, DSH):

            def value(n_jobs, Objective=Objective):
                return Objective(n_jobs=n_jobs).value_and_gradient(scores, level, levels)

            one, several = value(1), value(n_jobs)
            assert one[0] == several[0]
            assert np.array_equal(one[1], several[1])
            name = Objective.__name__
            for clock, suffix, aim in (
                (time.perf_counter, "", 1.7),
                (time.process_time, ", processor", None),  # says whether threads hinder each other
            ):
                times = {1: [], n_jobs: []}
                for _ in range(15):  # in turns: both meet the same load
                    for jobs in times:
                        times[jobs].append(best_of(lambda: value(jobs), 1, clock)[0])  # noqa: B023
                ours, theirs = (1e3 * min(times[jobs]) for jobs in (n_jobs, 1))
                sheet.row(name + suffix, ours, "ms", "one thread", theirs, at_least=aim)


def _measure(sheet, n_rows, n_bits, n_features, n_bins):
    sheet.section(
        f"One training step of TALRLinear: {n_rows} rows of {n_features} features, {n_bits} bits, "
        "one thread"
    )
    rng = np.random.default_rng(0)
    data = rng.normal(size=(5000, n_features)).astype(np.float32)
    labels = rng.integers(0, 10, len(data)).astype(np.uint8)
    start = rng.normal(size=(n_features, n_bits)).astype(np.float32)
    start /= np.sqrt(n_features)
    rows = rng.permutation(len(data))[:n_rows]
    relevant = (labels[rows][:, None] == labels[rows]).astype(np.float32)

    objective, levels = AveragePrecision(alpha=1.0, n_bins=n_bins), np.array([0.0, 1.0])

    def gradient(weights):
        X = data[rows]
        level = (labels[rows][:, None] == labels[rows]).view(np.uint8)
        value, by_score = objective.value_and_gradient(X @ weights, level, levels)
        return value, X.T @ by_score

    value, expected = direct_numpy(data[rows], start, relevant, n_bins)
    ours_value, found = gradient(start)
    assert abs(value - ours_value) < 1e-5
    assert agree(found, expected)

    weights, solver = start.copy(), Adam()
    ours = time_of(lambda: solver.step([weights], [gradient(weights)[1]], 1e-4), 800)

    weights_numpy, solver_numpy = start.copy(), Adam()

    def numpy_step():
        _, by_weight = direct_numpy(data[rows], weights_numpy, relevant, n_bins)
        solver_numpy.step([weights_numpy], [by_weight], 1e-4)

    work = "forward, backward, update"
    X, codes = data[rows], np.tanh(data[rows] @ start)
    pairs, slopes = codes @ codes.T.copy(), np.ones((n_rows, n_rows), X.dtype)

    def four():
        X @ start
        np.matmul(codes, codes.T.copy(), out=pairs)
        slopes @ codes
        X.T @ codes

    def five():
        four()
        slopes.T @ codes

    floor = time_of(four, 800)
    sheet.row(work, ours, "ms", "its 4 matrix products alone", floor, at_least=1 / 1.5)
    sheet.row(work, ours, "ms", "5, slopes of either side apart", time_of(five, 800))
    sheet.row(work, ours, "ms", "direct, numpy", time_of(numpy_step, 12), at_least=30)

    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
    X, relevance = torch.from_numpy(data[rows]), torch.from_numpy(relevant)
    parameter = torch.nn.Parameter(torch.from_numpy(start.copy()))
    optimizer = torch.optim.Adam([parameter], lr=1e-4, maximize=True)
    loss = direct_torch(torch, X, parameter, relevance, n_bins)
    loss.backward()
    assert agree(parameter.grad.numpy(), expected)

    def torch_step():
        optimizer.zero_grad()
        direct_torch(torch, X, parameter, relevance, n_bins).backward()
        optimizer.step()

    sheet.row(work, ours, "ms", "direct, PyTorch", time_of(torch_step, 30), at_least=15)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--bits", type=int, default=32)
    parser.add_argument("--features", type=int, default=512)
    parser.add_argument("--bins", type=int, default=None)
    options = parser.parse_args()
    sheet = Sheet()
    measure(sheet, options.batch, options.bits, options.features, options.bins)
    measure_threads(sheet)


if __name__ == "__main__":
    main()
