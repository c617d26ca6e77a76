"""Turn images into features: the GIST descriptor, and readers of image files."""

from ._gist import GIST, gabor_filters
from ._image_files import list_images, read_images

__all__ = [
    "GIST",
    "gabor_filters",
    "list_images",
    "read_images",
]
