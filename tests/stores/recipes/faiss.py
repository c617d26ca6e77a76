"""faiss: binary indexes take packed codes."""

import faiss

from sklearn_hashrank.codes import pack_codes
from sklearn_hashrank.interop import to_faiss


def search(codes, queries, n_bits, k):
    return to_faiss(codes, n_bits).search(pack_codes(queries, n_bits), k)


def search_graph(codes, queries, n_bits, k):
    packed = pack_codes(codes, n_bits)
    index = faiss.IndexBinaryHNSW(8 * packed.shape[1], 16)
    index.add(packed)
    return index.search(pack_codes(queries, n_bits), k)
