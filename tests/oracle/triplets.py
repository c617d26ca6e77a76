"""Listwise supervision as it is written in the paper: one triplet after the other."""

import numpy as np


def triplet_tensor(relevance):
    """S[m, i, j]: +1 if i is more relevant to query m than j, -1 if less, 0 if equal."""
    n_queries, n = relevance.shape
    S = np.zeros((n_queries, n, n))
    for m in range(n_queries):
        for i in range(n):
            for j in range(n):
                if relevance[m, i] > relevance[m, j]:
                    S[m, i, j] = 1
                elif relevance[m, i] < relevance[m, j]:
                    S[m, i, j] = -1
    return S


def supervision_matrix(relevance, queries, items):
    """B = sum_m p_m q_m.T, with p_m = sum_ij S_mij (x_i - x_j)."""
    S = triplet_tensor(relevance)
    B = np.zeros((items.shape[1], queries.shape[1]))
    for m, query in enumerate(queries):
        p = np.zeros(items.shape[1])
        for i, x_i in enumerate(items):
            for j, x_j in enumerate(items):
                p += S[m, i, j] * (x_i - x_j)
        B += np.outer(p, query)
    return B


def supervision_matrix_of_others(relevance, rows):
    """B of rows that rank one another, of which no query adds its own vector to its p_m."""
    S = triplet_tensor(relevance)
    B = np.zeros((rows.shape[1], rows.shape[1]))
    for m, query in enumerate(rows):
        p = np.zeros(rows.shape[1])
        for i, x_i in enumerate(rows):
            for j, x_j in enumerate(rows):
                p += S[m, i, j] * ((i != m) * x_i - (j != m) * x_j)
        B += np.outer(p, query)
    return B


def mean_margin(relevance, queries, items, A):
    """Mean of q.T A A.T (x_i - x_j) over the triplets with i more relevant than j."""
    S = triplet_tensor(relevance)
    margins = [
        queries[m] @ A @ A.T @ (items[i] - items[j]) for m, i, j in np.argwhere(S == 1).tolist()
    ]
    return float(np.mean(margins))


def solution(B, n_bits):
    """A of eq. 10, up to a rotation: the leading eigenvectors of what tr(A A.T B) knows of B."""
    values, vectors = np.linalg.eigh((B + B.T) / 2)
    leading = np.argsort(-values)[:n_bits]
    return values[leading], vectors[:, leading]
