"""Features of images."""

from ._gist import GIST, gabor_filters

__all__ = ["GIST", "gabor_filters"]
