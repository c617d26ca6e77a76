"""Images changed at random, in ways that leave what they show."""

from collections.abc import Callable

import torch

Augmentation = Callable[[torch.Tensor], torch.Tensor]
"""From a batch of images (n, channels, height, width) to another; draws by torch's generator."""

_LARGEST_SHIFT = 0.1  # of the height and the width


def shift(images: torch.Tensor) -> torch.Tensor:
    """Move each image by some pixels, at most a tenth of its size; zeros come in.

    Parameters
    ----------
    images : Tensor of shape (n, channels, height, width)
        Centred, so that zero is the mean.

    Returns
    -------
    images : Tensor of shape (n, channels, height, width)
    """
    n, _, height, width = images.shape
    tall, wide = round(_LARGEST_SHIFT * height), round(_LARGEST_SHIFT * width)
    padded = torch.nn.functional.pad(images, (wide, wide, tall, tall))
    top = torch.randint(0, 2 * tall + 1, (n, 1)) + torch.arange(height)
    left = torch.randint(0, 2 * wide + 1, (n, 1)) + torch.arange(width)
    top, left = top.to(images.device), left.to(images.device)
    rows = torch.arange(n, device=images.device)[:, None, None]
    moved = padded.movedim(1, -1)[rows, top[:, :, None], left[:, None, :]]
    return moved.movedim(-1, 1).contiguous()


AUGMENTATIONS: dict[str, Augmentation] = {"auto": shift}
"""What `augment` of `DeepHasher` may name."""
