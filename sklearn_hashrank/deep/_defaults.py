"""What "auto" means for parameters of `DeepHasher`, for rows and for images."""

from typing import Any, NamedTuple


class Recipe(NamedTuple):
    """How a network is trained."""

    max_iter: int
    learning_rate: float  # of what is learned from scratch
    trunk_learning_rate: float  # of a given network
    weight_decay: float


# Found on validation rows of Fashion-MNIST, of network features of CIFAR-10 and of the digits.
_OF_ROWS = Recipe(max_iter=40, learning_rate=3e-3, trunk_learning_rate=3e-4, weight_decay=0.01)
# Images take fewer passes, because each is moved anew in every pass and costs many times a row.
_OF_IMAGES = Recipe(max_iter=20, learning_rate=2e-3, trunk_learning_rate=2e-4, weight_decay=0.01)
_FEWEST_STEPS = 400  # where there are few rows

# Steps of SGD are as long as the slopes: on validation rows of the digits, rates of 30 to 100 times
# those of Adam did best, for rows and for images.
_SGD_PER_ADAM = 100


def choose_recipe(takes_images: bool, optimizer: Any, n_batches: int, **given: Any) -> Recipe:
    """Return the recipe for rows or images, with what was given in place of its own.

    The rates are those of Adam, but for ``"sgd"``. A pass has `n_batches` steps. Of what is given,
    "auto" stands for the recipe's own.
    """
    recipe = _OF_IMAGES if takes_images else _OF_ROWS
    if optimizer == "sgd":
        recipe = recipe._replace(
            learning_rate=_SGD_PER_ADAM * recipe.learning_rate,
            trunk_learning_rate=_SGD_PER_ADAM * recipe.trunk_learning_rate,
        )
    recipe = recipe._replace(max_iter=max(recipe.max_iter, -(-_FEWEST_STEPS // n_batches)))
    return recipe._replace(**{name: value for name, value in given.items() if value != "auto"})
