"""A model of one's own in the learner of the package: a perceptron with one hidden layer."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sklearn_hashrank.affinity import LabelAffinity
from sklearn_hashrank.learning import (
    BaseModel,
    MinibatchLearning,
    ObjectiveOfRows,
    PairRelevance,
)
from sklearn_hashrank.metrics import tie_aware_average_precision_score
from sklearn_hashrank.objectives import SimplifiedAP


class Perceptron(BaseModel):
    """Projections ``tanh(X @ first) @ second``, moved by gradient ascent with momentum."""

    learning_rate = 0.3

    def __init__(self, X, n_hidden, n_bits, random_state):
        self.X = X
        shapes = (X.shape[1], n_hidden), (n_hidden, n_bits)
        self.weights = [random_state.normal(size=s) / np.sqrt(s[0]) for s in shapes]
        self.moves = [np.zeros(s) for s in shapes]

    def step(self, batch, evaluate, factor):
        """Move along the gradient of the objective of a batch; return its value."""
        first, second = self.weights
        rows = self.X[batch]
        hidden = np.tanh(rows @ first)
        value, gradient = evaluate(hidden @ second)
        by_hidden = gradient @ second.T * (1 - hidden**2)
        for weight, move, slope in zip(
            self.weights, self.moves, (rows.T @ by_hidden, hidden.T @ gradient)
        ):
            move *= 0.9
            move += factor * self.learning_rate * slope
            weight += move
        return value

    def projections(self, rows):
        """Project rows, for validation."""
        first, second = self.weights
        return np.tanh(self.X[rows] @ first) @ second

    def get_state(self):
        """Copy the weights, so that the best can be restored."""
        return [weight.copy() for weight in self.weights]

    def set_state(self, state):
        """Take weights back."""
        self.weights = state


# use
X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X / 16 - 0.3, y, random_state=0)
random_state = np.random.RandomState(0)
relevance = PairRelevance(LabelAffinity().fit(y), y)
learning = MinibatchLearning(
    ObjectiveOfRows(SimplifiedAP(), relevance),
    relevance,
    validation_fraction=0.1,
    random_state=random_state,
)
model = Perceptron(X, 64, 16, random_state)
history = learning.run(model, 40)

model.X = X_test
codes = model.projections(np.arange(len(X_test))) > 0
print(f"{len(history['objective'])} passes in batches of {learning.batch_size} rows")
print(f"AP {tie_aware_average_precision_score(y_test, codes):.1f}")
