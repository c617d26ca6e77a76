"""Functions of soft histograms: tie-aware AP and NDCG, mutual information."""
