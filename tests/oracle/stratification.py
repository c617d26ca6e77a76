"""Algorithm 1 of Sechidis, Tsoumakas and Vlahavas (2011), with sets, as it is printed."""


def iterative_stratification(label_sets, n_folds, random_state):
    """Return the rows of each subset; random choices are drawn as the package draws them."""
    k = n_folds
    D = set(range(len(label_sets)))
    labels = sorted(set().union(*label_sets))
    c = [len(D) / k for _ in range(k)]
    c_label = {i: [sum(i in s for s in label_sets) / k for _ in range(k)] for i in labels}
    S = [set() for _ in range(k)]
    while D:
        D_label = {i: sorted(row for row in D if i in label_sets[row]) for i in labels}
        sizes = {i: len(rows) for i, rows in D_label.items() if rows}
        if not sizes:
            break
        rarest = [i for i in labels if sizes.get(i) == min(sizes.values())]
        label = rarest[random_state.randint(len(rarest))]
        for x in random_state.permutation(D_label[label]):
            M = [j for j in range(k) if c_label[label][j] == max(c_label[label])]
            M = [j for j in M if c[j] == max(c[i] for i in M)]
            m = M[random_state.randint(len(M))]
            S[m].add(int(x))
            D.remove(x)
            for i in label_sets[x]:
                c_label[i][m] -= 1
            c[m] -= 1
    for x in random_state.permutation(sorted(D)):  # rows without labels, which the paper has not
        M = [j for j in range(k) if c[j] == max(c)]
        m = M[random_state.randint(len(M))]
        S[m].add(int(x))
        c[m] -= 1
    return S
