"""Turn images into features: the GIST descriptor."""

from ._gist import GIST, gabor_filters

__all__ = ["GIST", "gabor_filters"]
