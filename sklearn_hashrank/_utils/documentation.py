"""Pages of the documentation that belong to estimators, for their HTML representation."""

import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata

_ROOT = "sklearn_hashrank"


class HasPage:
    """Mixin of public estimators: scikit-learn's HTML representation links to their page."""

    _doc_link_module = _ROOT

    @property
    def _doc_link_template(self) -> str:
        return _address() and f"{_address()}/reference/generated/{{module}}.{{name}}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        kind = type(self)
        is_at_the_root = getattr(sys.modules[_ROOT], kind.__name__, None) is kind
        depth = 1 if is_at_the_root else 2
        return {"module": ".".join(kind.__module__.split(".")[:depth]), "name": kind.__name__}


@cache
def _address() -> str:
    """Return the address in the metadata of the package; "", for no links, if there is none."""
    try:
        addresses = metadata("sklearn-hashrank").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    named = dict(each.split(", ", 1) for each in addresses)
    return named.get("Documentation", "")
