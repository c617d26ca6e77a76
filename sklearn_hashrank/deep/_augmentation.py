"""Images changed at random, in ways that leave what they show."""

from collections.abc import Callable

import torch

Augmentation = Callable[[torch.Tensor], torch.Tensor]
"""From a batch of images (n, channels, height, width) to another, by torch's random numbers."""

_LARGEST_SHIFT = 0.1  # of the height and the width


def shift(images: torch.Tensor, generator: torch.Generator | None = None) -> torch.Tensor:
    """Move each image by some pixels, at most a tenth of its size; its border is repeated.

    Parameters
    ----------
    images : Tensor of shape (n, channels, height, width)
    generator : Generator, default=None
        Controls how far images move; None: torch's own.

    Returns
    -------
    images : Tensor of shape (n, channels, height, width)
    """
    n, _, height, width = images.shape
    tall, wide = int(_LARGEST_SHIFT * height), int(_LARGEST_SHIFT * width)
    padded = torch.nn.functional.pad(images, (wide, wide, tall, tall), mode="replicate")
    device = images.device
    top = torch.randint(0, 2 * tall + 1, (n, 1), generator=generator) + torch.arange(height)
    left = torch.randint(0, 2 * wide + 1, (n, 1), generator=generator) + torch.arange(width)
    rows = torch.arange(n, device=device)[:, None, None]
    moved = padded.movedim(1, -1)[rows, top.to(device)[:, :, None], left.to(device)[:, None, :]]
    return moved.movedim(-1, 1).contiguous()


def flip(images: torch.Tensor, generator: torch.Generator | None = None) -> torch.Tensor:
    """Exchange left and right of every second image or so.

    Parameters
    ----------
    images : Tensor of shape (n, channels, height, width)
    generator : Generator, default=None
        Controls which images are flipped; None: torch's own.

    Returns
    -------
    images : Tensor of shape (n, channels, height, width)
    """
    shape = len(images), 1, 1, 1
    flipped = torch.rand(shape, generator=generator, dtype=torch.float32) < 0.5
    return torch.where(flipped.to(images.device), images.flip(3), images)


def flip_and_shift(images: torch.Tensor, generator: torch.Generator | None = None) -> torch.Tensor:
    """Flip every second image or so, and move all of them.

    Parameters
    ----------
    images : Tensor of shape (n, channels, height, width)
    generator : Generator, default=None
        Controls both changes; None: torch's own.

    Returns
    -------
    images : Tensor of shape (n, channels, height, width)
    """
    return shift(flip(images, generator), generator)


AUGMENTATIONS: dict[str, Augmentation] = {"auto": shift, "shift": shift, "flip": flip_and_shift}
"""What `augment` of `DeepHasher` may name."""
