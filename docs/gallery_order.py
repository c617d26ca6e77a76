"""The order of the gallery."""

ORDER = (
    "plot_ties.py",
    "plot_embeddings.py",
    "plot_digits.py",
    "plot_neighbors_grid.py",
    "plot_learning_curves.py",
    "plot_grid_search.py",
    "plot_pipeline_persistence.py",
    "plot_talr.py",
    "plot_rsh.py",
    "plot_lwh.py",
    "plot_code_usage.py",
    "plot_gist.py",
    "plot_search.py",
    "plot_out_of_core.py",
    "plot_convolutional.py",
    "plot_perceptron.py",
    "plot_own_network.py",
)


def example_order(filename):
    """Sort examples as listed, others after them by name."""
    return (ORDER.index(filename) if filename in ORDER else len(ORDER), filename)
