"""faiss: binary indexes take packed codes."""

import faiss

from sklearn_hashrank.codes import pack_codes


def search(codes, queries, n_bits, k):
    packed = pack_codes(codes, n_bits)
    index = faiss.IndexBinaryFlat(8 * packed.shape[1])
    index.add(packed)
    return index.search(pack_codes(queries, n_bits), k)


def search_lists(codes, queries, n_bits, k, n_lists, n_probe):
    packed = pack_codes(codes, n_bits)
    index = faiss.IndexBinaryFlat(8 * packed.shape[1])
    index = faiss.IndexBinaryIVF(index, index.d, n_lists)
    index.train(packed)
    index.add(packed)
    index.nprobe = n_probe  # lists that are scanned
    return index.search(pack_codes(queries, n_bits), k)


def search_graph(codes, queries, n_bits, k):
    packed = pack_codes(codes, n_bits)
    index = faiss.IndexBinaryHNSW(8 * packed.shape[1], 16)
    index.add(packed)
    return index.search(pack_codes(queries, n_bits), k)
