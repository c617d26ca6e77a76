"""Learning from minibatches: one algorithm, for models of any kind.

A *model* is moved (`BaseModel`): the weights of a linear hasher, a network, or one of your own. An
*objective* says where to (`ObjectiveOfRows`), and *relevance* what the rows of a batch are to each
other. `MinibatchLearning` does everything else.

``_learning``
    The algorithm: split, batch size, passes, early stopping, report, history; and what a model is.
``_learned_relevance``
    What is asked of relevance. ``_pair_relevance`` and ``_neighbor_relevance`` are its two kinds.
``_batches``, ``_class_strength``
    Batches at random, and in groups of a class; how well features tell classes apart, which decides
    how large the groups are.
``_objective_of_rows``
    From the numbers of a batch to a function of its scores.
``_trainer``, ``_listeners``, ``_held_out``
    Passes over batches; early stopping and progress lines; rows kept for validation.
``_linear_model``, ``_start``, ``_dropout_mask``
    Weights over scaled features, where they start, and which features a step leaves out.
"""
