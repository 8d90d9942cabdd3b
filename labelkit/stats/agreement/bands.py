"""Words for a kappa: Landis and Koch's bands, and how sure one can be of a band.

The bands were made for kappa. For AC1 or alpha they are borrowed, and whoever prints them there
has to say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from labelkit.errors import StatisticsError
from labelkit.stats.quantiles import normal_cdf
from labelkit.stats.undefined import Number, Undefined

_LANDIS_KOCH = (
    (0.2, "slight"),
    (0.4, "fair"),
    (0.6, "moderate"),
    (0.8, "substantial"),
    (1.0, "almost perfect"),
)
_SLACK = 1e-12
"""A kappa of 0.2 that arithmetic made 0.2000000000000002 is still slight."""


@dataclass(frozen=True)
class Band:
    """One band of a scale.

    Args:
        name: the word for it.
        low: lower limit.
        high: upper limit.
        cumulative: probability that the true coefficient lies in this band or a higher one.
    """

    name: str
    low: float
    high: float
    cumulative: float


def landis_koch_band(value: Number | None) -> str | None:
    """Return the band of a kappa; None where kappa is undefined.

    Landis & Koch (1977), Biometrics 33:165, table on p. 165. The printed bands leave gaps (0.20,
    then 0.21); they are read as half-open with the upper limit included: 0.20 is slight and
    0.205 is fair. Below 0 is poor.
    """
    if value is None or isinstance(value, Undefined) or not isfinite(value):
        return None
    if value < 0:
        return "poor"
    for high, name in _LANDIS_KOCH:
        if value <= high + _SLACK:
            return name
    raise StatisticsError(f"a kappa of {value!r} is above 1; no coefficient can be")


def band_membership(value: float, se: float) -> tuple[Band, ...]:
    """Return for every band, from the highest down, how probable it or a higher one is.

    Gwet (2014), ch. 6.3: the coefficient is taken as normal around its value with its standard
    error, cut to [-1, 1]. The band to report is the first whose ``cumulative`` exceeds 0.95.

    Args:
        value: the coefficient.
        se: its standard error, above 0.
    """
    if not (se > 0 and isfinite(se) and isfinite(value)):
        raise StatisticsError(
            f"band membership needs a finite value and a standard error above 0, not {se!r}"
        )
    limits = (-1.0, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    names = ("poor", *(name for _, name in _LANDIS_KOCH))
    below = [normal_cdf((limit - value) / se) for limit in limits]
    whole = below[-1] - below[0]
    if whole <= 0:
        raise StatisticsError(f"a coefficient of {value!r} with se {se!r} lies outside [-1, 1]")
    return tuple(
        Band(names[k], limits[k], limits[k + 1], (below[-1] - below[k]) / whole)
        for k in range(len(names) - 1, -1, -1)
    )
