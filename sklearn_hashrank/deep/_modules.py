"""From what a user gives as `module` to a network that gives `n_bits` scores."""

import contextlib
import copy
import inspect
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from ._networks import convolutional, hash_layer, perceptron

_generator = threading.RLock()


class Parts(NamedTuple):
    """A network from rows or images to scores (n, n_bits), and the part of it that was given."""

    network: nn.Module
    trunk: "nn.Module | None"

    def groups(self, learning_rate: float, trunk_learning_rate: float) -> list[dict[str, Any]]:
        """Return the parameters that are learned, in groups of a learning rate each."""
        of_trunk = set(map(id, self.trunk.parameters())) if self.trunk is not None else set()
        learned = [each for each in self.network.parameters() if each.requires_grad]
        new = [each for each in learned if id(each) not in of_trunk]
        given = [each for each in learned if id(each) in of_trunk]
        groups: list[dict[str, Any]] = [{"params": new, "lr": learning_rate}]
        if given and trunk_learning_rate > 0:
            groups.append({"params": given, "lr": trunk_learning_rate})
        found = [group for group in groups if group["params"]]
        if not found:
            raise ValueError("the network has no parameters to learn, or none that requires_grad.")
        if not all(parameter.is_leaf for group in found for parameter in group["params"]):
            raise ValueError(
                "copies of a network that torch.jit compiled cannot be trained. Pass the network "
                "that it was made of, or trunk_learning_rate=0."
            )
        return found


def build(
    module: Any, shape: tuple[int, ...], n_bits: int, example: torch.Tensor | None = None
) -> Parts:
    """Make a network of what the user gave, see `DeepHasher`.

    A network is copied, also one that a function returns: it may be the same in every fit. Copies
    are on the CPU. `shape` is that of a row, (n_features,), or of an image, (channels, height,
    width). `example` are a few rows; zeros where there are none, as when a file is read.
    """
    if example is None:
        example = torch.zeros(2, *shape)
    if module is None:
        return Parts(_default(shape, n_bits), None)
    if isinstance(module, nn.Module):
        if any(weights.is_meta for weights in (*module.parameters(), *module.buffers())):
            raise ValueError(
                "the network given as module is on torch's device 'meta', which holds no weights. "
                "Move it to a device, as by module.to_empty(device='cpu'), and load its weights."
            )
        trunk = copy.deepcopy(module).cpu()
        features = _run(trunk, example)
        if features.ndim < 2:
            raise ValueError(
                "the network given as module must have features for each row, of shape (n_rows, "
                f"n_features). Got {tuple(features.shape)} for {len(example)} rows."
            )
        head = hash_layer(features[0].numel(), n_bits).to(features.dtype)
        return Parts(
            nn.Sequential(OrderedDict(trunk=trunk, flatten=nn.Flatten(), head=head)), trunk
        )
    network = copy.deepcopy(_call(module, shape, n_bits)).cpu()
    scores = _run(network, example)
    if tuple(scores.shape) != (len(example), n_bits):
        raise ValueError(
            f"the network that {_name(module)} makes must give n_bits={n_bits} scores for each row."
            f" Got shape {tuple(scores.shape)} for {len(example)} rows. A network of features, "
            "given itself and not as a function or class, gets a layer of n_bits."
        )
    return Parts(network, None)


def input_dtype(network: nn.Module) -> torch.dtype:
    """Return the precision that a network takes: that of its first parameter."""
    tensors: Iterable[torch.Tensor] = (*network.parameters(), *network.buffers())
    return next((each.dtype for each in tensors if each.is_floating_point()), torch.float32)


@contextlib.contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Let torch sample from a seed, and go on afterwards as if nothing had been sampled.

    Networks and dropout sample from the one generator that torch has in a process. So one network
    learns at a time; others wait in their threads.
    """
    devices: Sequence[int] = [device.index or 0] if device.type == "cuda" else []
    forked = torch.random.fork_rng(devices=devices)
    with _generator, forked, torch.inference_mode(False), torch.enable_grad():
        if device.type == "cpu":
            torch.default_generator.manual_seed(seed)  # and not those of accelerators
        else:
            torch.manual_seed(seed)
        yield


def weights_of(network: nn.Module) -> dict[str, np.ndarray]:
    weights = {}
    for name, tensor in network.state_dict().items():
        if not torch.is_tensor(tensor):
            raise ValueError(
                f"{name} of the network cannot be stored: its get_extra_state gives a "
                f"{type(tensor).__name__}, and files hold tensors. Let it give a tensor."
            )
        if tensor.dtype in (torch.bfloat16, torch.float16):
            tensor = tensor.float()
        weights[name] = tensor.detach().cpu().numpy()
    return weights


def rebuild(
    module: Any, shape: tuple[int, ...], n_bits: int, weights: dict[str, np.ndarray]
) -> nn.Module:
    """Make a network anew and give it the weights that :func:`weights_of` returned."""
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in weights.items()}
    if not all(bool(torch.isfinite(tensor).all()) for tensor in tensors.values()):
        raise ValueError("the weights of the network hold numbers that are not finite.")
    if module is None:
        with torch.device("meta"):  # nothing is allocated before shapes are known to be right
            network = _default(shape, n_bits)
        dtypes = {name: tensor.dtype for name, tensor in network.state_dict().items()}
        if dtypes != {name: tensor.dtype for name, tensor in tensors.items()}:
            raise ValueError("its weights are not those of the network.")
    else:
        with seeded(0, torch.device("cpu")):
            network = build(module, shape, n_bits).network
    try:
        network.load_state_dict(tensors, assign=module is None)
    except RuntimeError as error:
        raise ValueError(f"its weights are not those of the network: {error}") from error
    return network.eval()


def _default(shape: tuple[int, ...], n_bits: int) -> nn.Module:
    if len(shape) == 1:
        return perceptron(shape[0], n_bits)
    channels, height, width = shape
    return convolutional((channels, height, width), n_bits)


def _call(factory: Any, shape: tuple[int, ...], n_bits: int) -> nn.Module:
    known: dict[str, Any] = {"n_bits": n_bits}
    known |= {"n_features": shape[0]} if len(shape) == 1 else {"image_shape": shape}
    taken = inspect.signature(factory).parameters.values()
    takes_all = any(each.kind is each.VAR_KEYWORD for each in taken)
    named = {each.name for each in taken if each.kind is not each.POSITIONAL_ONLY}
    needed = {each.name for each in taken if each.default is each.empty} - {"args", "kwargs"}
    unknown = sorted(needed - set(known))
    if unknown and not takes_all:
        raise ValueError(
            f"module is called with those of {', '.join(known)} that it takes by name. "
            f"{_name(factory)} also needs {', '.join(unknown)}; wrap it in a function."
        )
    network = factory(**{name: each for name, each in known.items() if takes_all or name in named})
    if not isinstance(network, nn.Module):
        raise ValueError(
            f"module must make a torch.nn.Module. {_name(factory)} made {type(network).__name__}."
        )
    return network


def _run(network: nn.Module, example: torch.Tensor) -> torch.Tensor:
    """Scores of a few rows, without learning anything of them."""
    was_training = network.training
    network.eval()
    try:
        with torch.no_grad():
            scores = network(example.to(input_dtype(network)))
    except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError) as error:
        raise ValueError(
            f"the network given by module does not take rows of shape {tuple(example.shape)}: "
            f"{type(error).__name__}: {error}"
        ) from error
    finally:
        network.train(was_training)
    if not torch.is_tensor(scores):
        raise ValueError(
            f"the network given by module must give a tensor. Got {type(scores).__name__}."
        )
    return scores


def _name(factory: Any) -> str:
    return getattr(factory, "__qualname__", type(factory).__name__)


def _forget_lock() -> None:
    """A forked process has none of the threads, one of which may have held it."""
    global _generator
    _generator = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget_lock)
