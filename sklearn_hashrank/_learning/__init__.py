"""Learning from minibatches: one loop, for every objective, relevance and model.

``minibatch_learning``
    The loop: split, batches, passes, early stopping, lines of progress, history; what a model has.
``relevance``
    What learning needs of relevance; ``pair_relevance`` and ``neighbor_relevance`` are its kinds.
``batches``, ``class_strength``
    Batches at random, and in groups of a class; how well features tell classes apart, which decides
    how large the groups are.
``validation``
    Rows kept for validation, and how good the model is on them.
``linear_model``, ``start``
    Weights over scaled features, and where they start.
"""
