"""Functions of soft histograms: tie-aware AP and NDCG, mutual information."""

__all__: list[str] = []
