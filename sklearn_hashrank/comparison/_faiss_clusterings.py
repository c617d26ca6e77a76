"""What an index of faiss clusters when it is trained."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .._utils.extras import how_to_install, needed

ROWS_OF_A_CENTROID = 39
"""Below so many training rows faiss warns, a line for each clustering, on standard error."""

_CENTROIDS_OF_ROTATIONS = 256  # whatever quantizer follows


class Clustering(NamedTuple):
    """A clustering that is a part of the training."""

    parameters: Any  # faiss.ClusteringParameters, of the index itself
    n_centroids: int


def import_faiss() -> Any:
    """Import faiss, or say how to install it."""
    with needed(how_to_install("faiss")):
        import faiss
    return faiss


def parts_of(index: Any) -> Iterator[Any]:
    """An index, and those inside that hold the items."""
    faiss = import_faiss()
    parts = [index]
    while parts:
        part = faiss.downcast_index(parts.pop())
        yield part
        parts += [getattr(part, name) for name in ("index", "base_index") if hasattr(part, name)]


def clusterings_of(index: Any) -> list[Clustering]:
    """List the clusterings of an index: of lists, of quantizers, and of rotations for them.

    Parameters
    ----------
    index : faiss.Index

    Returns
    -------
    clusterings : list of Clustering
        Each training row is one of the points of each of them. `parameters` of rotations are
        None: they are made when the rotation is trained.
    """
    faiss = import_faiss()
    found = [Clustering(None, _CENTROIDS_OF_ROTATIONS) for _ in _rotations(index)]
    for part in parts_of(index):
        quantizers = [part]
        if hasattr(part, "nlist"):
            lists = faiss.downcast_index(part.quantizer)
            if isinstance(lists, faiss.MultiIndexQuantizer):  # products of centroids are lists
                quantizers.append(lists)
            else:
                found.append(Clustering(part.cp, part.nlist))
        for quantizer in quantizers:
            if hasattr(quantizer, "pq"):
                found.append(Clustering(quantizer.pq.cp, quantizer.pq.ksub))
        if hasattr(part, "rq"):
            found.append(_of_residuals(part.rq))
        if hasattr(part, "prq"):
            products = map(part.prq.subquantizer, range(part.prq.nsplits))
            found += map(_of_residuals, map(faiss.downcast_AdditiveQuantizer, products))
    return found


@contextmanager
def few_rows_allowed(index: Any) -> Iterator[None]:
    """Train an index without a line of faiss for each clustering that has few rows.

    The number of rows that faiss warns about changes nothing but the warning.

    Parameters
    ----------
    index : faiss.Index
        Not trained yet.
    """
    faiss = import_faiss()
    for parameters, _ in clusterings_of(index):
        if parameters is not None:
            parameters.min_points_per_centroid = 1
    given = []
    for rotation in _rotations(index):
        quantizer = faiss.ProductQuantizer(rotation.d_out, rotation.M, 8)
        quantizer.cp.min_points_per_centroid = 1
        rotation.pq = quantizer
        given.append((rotation, quantizer))
    try:
        yield
    finally:
        for rotation, quantizer in given:
            rotation.pq = None
            quantizer.thisown = True  # Python frees it again


def _rotations(index: Any) -> Iterator[Any]:
    """Rotations that are learned with a product quantizer of their own."""
    faiss = import_faiss()
    for part in parts_of(index):
        if isinstance(part, faiss.IndexPreTransform):
            for place in range(part.chain.size()):
                transform = faiss.downcast_VectorTransform(part.chain.at(place))
                if isinstance(transform, faiss.OPQMatrix):
                    yield transform


def _of_residuals(quantizer: Any) -> Clustering:
    lengths = quantizer.nbits
    return Clustering(quantizer.cp, 1 << max(lengths.at(place) for place in range(lengths.size())))
