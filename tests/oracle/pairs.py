"""The losses of pairs as they are written in the paper, one pair and one bit after the other.

`b1` and `b2` are relaxed codes of length k. The printed `|b - 1|` is read as `||b| - 1|`, and the
second of its two terms as that of the second code.
"""


def squared_l2(b1, b2):
    return sum((x - y) ** 2 for x, y in zip(b1, b2))


def l1(b1, b2):
    return sum(abs(x - y) for x, y in zip(b1, b2))


def regularizer(b1, b2):
    return sum(abs(abs(x) - 1) for x in b1) + sum(abs(abs(x) - 1) for x in b2)


def buffer_zone(distance, near, far):
    return max(near - distance, 0) + max(distance - far, 0)


def dsh(b1, b2, level, alpha):
    """Equations (16)-(19)."""
    k = len(b1)
    y = 0 if level > 0 else 1
    a = squared_l2(b1, b2)
    b = max(2 * k - squared_l2(b1, b2), 0)
    return (1 - y) * a / 2 + y * b / 2 + alpha * regularizer(b1, b2)


def dispersed(b1, b2, level, alpha):
    """Equations (20)-(24)."""
    k = len(b1)
    y = 0 if level > 0 else 1
    a = buffer_zone(l1(b1, b2), k / 6, k / 3)
    b = max(2 * k - l1(b1, b2), 0)
    return (1 - y) * a / 2 + y * b / 2 + alpha * regularizer(b1, b2)


def hierarchical(b1, b2, level, alpha):
    """Equations (25)-(31), but one term for a class, a superclass only, or neither."""
    k = len(b1)
    distance = l1(b1, b2)
    terms = {
        2: buffer_zone(distance, k / 12, k / 6),
        1: buffer_zone(distance, k / 6, k / 3),
        0: max(2 * k - distance, 0),
    }
    return terms[level] / 2 + alpha * regularizer(b1, b2)


def nested(b1, b2, level, alpha):
    """Equations (25)-(31); rows of one class (level 2) are of one superclass, too."""
    k = len(b1)
    y = 0 if level == 2 else 1
    superclass = 0 if level >= 1 else 1
    a = buffer_zone(l1(b1, b2), k / 12, k / 6)
    b = buffer_zone(l1(b1, b2), k / 6, k / 3)
    c = max(2 * k - l1(b1, b2), 0)
    pair = (1 - y) * a / 2 + (1 - superclass) * b / 2 + superclass * c / 2
    return pair + alpha * regularizer(b1, b2)


LOSSES = {"dsh": dsh, "dispersed": dispersed, "hierarchical": hierarchical, "nested": nested}


def mean_loss(name, codes, level, alpha):
    """Mean over all ordered pairs of different rows."""
    losses = [
        LOSSES[name](codes[q], codes[i], level[q][i], alpha)
        for q in range(len(codes))
        for i in range(len(codes))
        if q != i
    ]
    return sum(losses) / len(losses)
