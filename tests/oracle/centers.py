"""Literal nearness to centres of classes, row by row and bit by bit."""

import math

import numpy as np

from sklearn_hashrank.codes._class_codes import hadamard_codes


def majority(centers, random_state):
    """The bit that most centres have, and that of a sampled code where as many have either."""
    of_ties = np.random.RandomState(random_state).randint(2, size=centers.shape[1])
    votes = [sum(column) for column in centers.T.tolist()]
    return [
        math.copysign(1, vote) if vote else (1 if of_tie else -1)
        for vote, of_tie in zip(votes, of_ties)
    ]


def centers_value(objective, scores, members, random_state):
    """Mean over the rows of what they gain."""
    centers = hadamard_codes(members.shape[1], scores.shape[1], random_state)
    total = 0.0
    for z, of_row in zip(scores, members):
        labels = np.flatnonzero(of_row)
        if not labels.size:
            continue
        if objective.form == "softmax":
            total += of_softmax(objective, z, centers, labels)
        else:
            total += of_bits(objective, z, majority(centers[labels], random_state))
    return total / len(scores)


def of_softmax(objective, z, centers, labels):
    cosines = [
        sum(a * b for a, b in zip(z, center)) / math.hypot(*z) / math.sqrt(len(z))
        for center in centers.tolist()
    ]
    logits = [
        objective.scale * (cosine - objective.margin * (k in labels))
        for k, cosine in enumerate(cosines)
    ]
    rest = math.log(sum(math.exp(logit) for logit in logits))
    return sum(logits[k] - rest for k in labels) / max(len(labels), 1)


def of_bits(objective, z, target):
    total = 0.0
    for score, bit in zip(z, target):
        probability = 1 / (1 + math.exp(-objective.scale * score))
        right = probability if bit > 0 else 1 - probability
        loss = math.log(math.cosh(abs(2 * probability - 1) - 1))
        total += math.log(right) / len(z) - objective.quantization * loss
    return total
