"""Coordinate descent on the bits of codes that reconstruct rows."""

from ._jit import kernel


@kernel
def descend(fields, gram, signs, max_sweeps):
    """Set every bit in turn to what reconstructs its row best, until no bit changes.

    Sweeps over the bits of a row minimize ``signs @ gram @ signs - 2 * fields @ signs``, which is
    the squared error of the reconstruction but for a constant.

    Parameters
    ----------
    fields : (n, n_bits) float64
        Products of the decoder and the rows. Written: what is left of them when the other bits are
        reconstructed, whose signs are the bits where the sweeps have ended.
    gram : (n_bits, n_bits) float64, products of the vectors of the decoder, zero on the diagonal
    signs : (n, n_bits) float64, the codes to start from, written
    max_sweeps : int
    """
    n_bits = gram.shape[0]
    for i in range(fields.shape[0]):
        field, code = fields[i], signs[i]
        for j in range(0, n_bits - 3, 4):  # four bits at a time: each field is stored once
            s0, s1, s2, s3 = code[j], code[j + 1], code[j + 2], code[j + 3]
            g0, g1, g2, g3 = gram[j], gram[j + 1], gram[j + 2], gram[j + 3]
            for k in range(n_bits):
                field[k] = (((field[k] - s0 * g0[k]) - s1 * g1[k]) - s2 * g2[k]) - s3 * g3[k]
        for j in range(n_bits - n_bits % 4, n_bits):
            products = gram[j]
            for k in range(n_bits):
                field[k] -= code[j] * products[k]
        for _ in range(max_sweeps):
            has_changed = False
            for j in range(n_bits):
                own = field[j]
                sign = 1.0 if own > 0 else -1.0
                if sign != code[j]:
                    step = sign - code[j]
                    products = gram[j]
                    for k in range(n_bits):
                        field[k] -= step * products[k]
                    code[j] = sign
                    has_changed = True
            if not has_changed:
                break
