"""Time of one step of a loss (forward, backward) against the direct formulation in PyTorch.

The direct formulation builds the M x M x bins array of kernel values, as deep-hashing code does,
and leaves the gradient to autograd. Both compute the same loss and the same gradient, which is
checked first. Bins are one per bit, as printed, or the 16 of ``n_bins="auto"``, of which a direct
formulation has less work as well. Labels are given to ours, and the finished matrix of relevance to
the direct one. One thread each. Needs torch, which the environment of ``make test-all`` has.

    python -m benchmarks.speed.deep_step
"""

import argparse

from threadpoolctl import threadpool_limits

from benchmarks.sheet import Sheet
from benchmarks.speed.training_step import agree, direct_torch, time_of


def measure(sheet, n_rows, n_bits, n_bins, at_least):
    """Times of a step, forward and backward."""
    import torch

    from sklearn_hashrank.deep import TieAwareLoss
    from sklearn_hashrank.objectives import AveragePrecision

    torch.set_num_threads(1)
    sheet.section(
        f"One step of TieAwareLoss: {n_rows:,} rows, {n_bits} bits, {n_bins} bins, one thread"
    )
    random = torch.Generator().manual_seed(0)
    scores = torch.randn(n_rows, n_bits, generator=random).requires_grad_()
    y = torch.randint(0, 10, (n_rows,), generator=random)
    relevant = (y[:, None] == y).float()

    def ours():
        scores.grad = None
        value = loss(scores, y)
        value.backward()
        return value

    def direct():
        scores.grad = None
        value = -direct_torch(torch, scores, unchanged, relevant, n_bins)
        value.backward()
        return value

    unchanged = torch.eye(n_bits)
    loss = TieAwareLoss(AveragePrecision(alpha=1.0, n_bins=n_bins))
    expected, gradient = direct().item(), scores.grad.numpy()
    assert abs(ours().item() - expected) < 1e-5
    assert agree(scores.grad.numpy(), gradient)

    few = max(5, 2_000_000 // n_rows**2)
    by_kernels, theirs = [], []
    for _ in range(3):  # in turns: both meet the same load
        by_kernels.append(time_of(ours, 10 * few))
        theirs.append(time_of(direct, few))
    work = "forward, backward"
    sheet.row(work, min(by_kernels), "ms", "direct, PyTorch", min(theirs), at_least=at_least)


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    sheet = Sheet()
    with threadpool_limits(1):
        for n_rows, n_bits in ((256, 32), (1024, 64)):
            measure(sheet, n_rows, n_bits, n_bits, at_least=8)
            measure(sheet, n_rows, n_bits, 16, at_least=None)


if __name__ == "__main__":
    main()
