"""Displays: pictures of one retrieval run or of several, in scikit-learn's manner."""
