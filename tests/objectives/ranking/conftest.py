import pytest

from sklearn_hashrank.objectives._objective_names import OBJECTIVES


@pytest.fixture(params=sorted(OBJECTIVES), ids="-".join)
def objective(request):
    return OBJECTIVES[request.param]()
