import pytest

from tests.objectives.rankings import RANKINGS


@pytest.fixture(params=sorted(RANKINGS), ids="-".join)
def objective(request):
    return RANKINGS[request.param]()
