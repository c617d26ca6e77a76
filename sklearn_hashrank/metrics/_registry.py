"""Register measures, and find them by any of their names."""

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any, Literal, TypeVar, get_args, get_origin

from ._measure import MEASURES, Function, Measure, among

_F = TypeVar("_F", bound=Function)

_by_name: dict[str, Measure] = {}  # under every name of each measure, those of the package first


def measure_of_package(function_name: str, **record: Any) -> Callable[[_F], _F]:
    """Decorate a function of the package that is a measure: it joins the table.

    Its name is that of the function, its options are the keywords annotated with a Literal or with
    float, its default radius, if it has one, is that of the keyword, and its meaning is the first
    paragraph of the docstring.

    Parameters
    ----------
    function_name : str
        Function of :mod:`sklearn_hashrank.metrics` that belongs to it.
    **record : object
        Further parameters of :class:`Measure`.
    """

    def decorate(function: _F) -> _F:
        keywords = signature(function).parameters
        options = {
            name: keyword.default if keyword.annotation is float else get_args(keyword.annotation)
            for name, keyword in keywords.items()
            if keyword.annotation is float or get_origin(keyword.annotation) is Literal
        }
        radius = keywords["radius"].default if "radius" in keywords else None
        record.update(options=options, radius=radius, function_name=function_name)
        measure = Measure(function.__name__, function, **record)
        MEASURES[measure.name] = _add(measure)
        return function

    return decorate


def register_measure(
    name: str,
    function: Function,
    *,
    short_name: str | None = None,
    label: str | None = None,
    options: Mapping[str, Sequence[str] | float] | None = None,
    bound: Function | None = None,
    bounded: bool = True,
    radius: int | None = None,
    needs_codes: bool = False,
    is_graded: bool = False,
) -> Measure:
    """Make a function of :class:`Ties` a measure that histograms and scorers find by name.

    Then ``histogram.measure(name)`` evaluates it, with bounds over tie orders and the treatment
    of undefined queries, and the name is accepted wherever a measure of the package is. If you
    registered a measure of this name before, the new one takes its place.

    Parameters
    ----------
    name : str
        An identifier that no measure of the package has.
    function : callable
        ``function(ties, k, **options)``: the expectation over all orders of tied items for each
        query, an array of shape (n_queries,). Every function takes `k`, the rank cutoff, which is
        None without one; a measure of what lies within a radius takes `radius` instead. Values of
        queries without relevant items are not used.
    short_name : str, default=None
        Name in scorers, columns and the command line, an identifier. None: `name`.
    label : str, default=None
        Name in pictures. None: `name` with spaces.
    options : mapping of str to sequence of str or float, default=None
        Further keywords of `function`, and the values of each, its default first. A float is the
        default of an option that accepts any number between 0 and 1.
    bound : callable, default=None
        ``bound(ties, k, best_first, **options)``: the largest or smallest value over all orders
        of tied items. None: `function` of the ties split by level, the best or the worst first.
    bounded : bool, default=True
        Whether values lie in [0, 1].
    radius : int, default=None
        The default radius of a measure of what lies within one: tie t is at distance t, and no
        order of tied items matters. None: a measure of the ranking, cut at `k`.
    needs_codes : bool, default=False
        Whether `function` asks for ``ties.peaks``. Such a measure has a radius.
    is_graded : bool, default=False
        Whether levels above 0 differ. If not, `min_relevance` chooses which are relevant.

    Returns
    -------
    measure : Measure

    Examples
    --------
    >>> from sklearn_hashrank import RetrievalHistogram
    >>> from sklearn_hashrank.metrics import register_measure
    >>> def hits(ties, k=None):
    ...     return ties.hits(k)
    >>> register_measure("hits", hits, bounded=False)
    Measure('hits', short_name='hits', label='hits')
    >>> RetrievalHistogram([[[0, 3], [2, 1]]], [0, 1]).measure("hits", k=3)
    array([2.25])
    """
    return _add(
        Measure(
            name,
            function,
            short_name=short_name or "",
            label=label or "",
            options=options or {},
            bound=bound,
            bounded=bounded,
            radius=radius,
            needs_codes=needs_codes,
            is_graded=is_graded,
        )
    )


def _add(measure: Measure) -> Measure:
    """Let all its names find a measure, unless one of them belongs to another measure."""
    known = _by_name.get(measure.name)
    if known == measure:
        return known
    is_again = known is not None and known.name == measure.name and known.name not in MEASURES
    for name in measure.names:
        owner = _by_name.get(name)
        if owner is not None and not (is_again and owner is known):
            raise ValueError(
                f"{name!r} already names another measure, {owner.name}. Choose another name."
            )
    if is_again and known is not None:
        forget(known)
    _by_name.update(dict.fromkeys(measure.names, measure))
    return measure


def forget(measure: Measure) -> None:
    for name in measure.names:
        del _by_name[name]


def list_measures() -> list[Measure]:
    """Return all measures, those of the package first.

    Returns
    -------
    measures : list of Measure

    Examples
    --------
    >>> from sklearn_hashrank.metrics import list_measures
    >>> [measure.short_name for measure in list_measures()][:3]
    ['ap', 'ndcg', 'dcg']
    """
    return [measure for name, measure in _by_name.items() if name == measure.name]


def get_measure(measure: str | Function | Measure) -> Measure:
    """Find a measure by any of its names, its function or its metric function."""
    if isinstance(measure, Measure):
        return measure
    name: Any = measure
    if not isinstance(measure, str):
        for known in list_measures():
            if measure is known.function:
                return known
        # The metric functions stand above this module, which finds them by their names.
        is_ours = str(getattr(measure, "__module__", "")).startswith("sklearn_hashrank.metrics.")
        name = getattr(measure, "__name__", None) if is_ours else None
    if name in _by_name:
        return _by_name[name]
    raise ValueError(
        "a measure must be a function of sklearn_hashrank.metrics with one value for each query, "
        f"a Measure, or {among(known.short_name for known in list_measures())}. "
        f"Got {measure!r} instead."
    )
