"""Networks that are made for rows and for images, and images that are changed at random."""

import pytest
import torch

from sklearn_hashrank.deep._augmentation import AUGMENTATIONS, flip, flip_and_shift, shift
from sklearn_hashrank.deep._defaults import choose_recipe
from sklearn_hashrank.deep._networks import convolutional, hash_layer, perceptron

SHAPES = [(1, 28, 28), (3, 32, 32), (1, 8, 8), (3, 7, 13), (1, 1, 1)]


@pytest.mark.parametrize("shape", SHAPES)
def test_convolutional_takes_images_of_any_size(shape):
    torch.manual_seed(0)
    network = convolutional(shape, 12)
    images = torch.randn(6, *shape)
    scores = network(images)
    assert scores.shape == (6, 12)
    scores.square().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in network.parameters())


@pytest.mark.parametrize("n_features", [1, 64])
def test_perceptron_gives_a_score_for_each_bit(n_features):
    torch.manual_seed(0)
    assert perceptron(n_features, 12)(torch.randn(6, n_features)).shape == (6, 12)


def test_networks_leave_nothing_out_once_they_are_trained():
    torch.manual_seed(0)
    rows = torch.randn(40, 16)
    network = perceptron(16, 12)
    assert not torch.equal(network(rows), network(rows))
    network.eval()
    assert torch.equal(network(rows), network(rows))
    torch.testing.assert_close(network(rows)[:3], network(rows[:3]))


def test_scores_of_a_batch_have_mean_zero_and_unit_variance():
    torch.manual_seed(0)
    scores = hash_layer(20, 8)(5 * torch.randn(300, 20) + 3)
    torch.testing.assert_close(scores.mean(dim=0), torch.zeros(8), atol=1e-5, rtol=0)
    torch.testing.assert_close(scores.var(dim=0, correction=0), torch.ones(8), atol=1e-4, rtol=0)


def test_flips_are_left_to_right_and_hit_about_half():
    images = torch.arange(400 * 2 * 3 * 4.0).reshape(400, 2, 3, 4)
    flipped = flip(images, torch.Generator().manual_seed(0))
    same = (flipped == images).flatten(1).all(dim=1)
    turned = (flipped == images.flip(3)).flatten(1).all(dim=1)
    assert torch.equal(same, ~turned)
    assert 150 < same.sum() < 250


def test_shifts_move_an_image_as_a_whole_and_by_a_tenth_at_most():
    images = torch.zeros(300, 1, 20, 20)
    images[:, :, 10, 10] = 1
    moved = shift(images, torch.Generator().manual_seed(0))
    assert torch.equal(moved.sum(dim=(1, 2, 3)), torch.ones(300))
    places = moved.flatten(1).argmax(dim=1)
    assert set((places // 20).tolist()) == set((places % 20).tolist()) == {8, 9, 10, 11, 12}


def test_shifts_repeat_the_border():
    images = torch.full((20, 3, 10, 30), 7.0)
    assert torch.equal(shift(images), images)


def test_all_channels_move_alike():
    images = torch.rand(50, 1, 20, 20).expand(50, 3, 20, 20)
    changed = flip_and_shift(images)
    assert torch.equal(changed[:, 0], changed[:, 1])
    assert torch.equal(changed[:, 0], changed[:, 2])


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_a_generator_draws_the_same_again(name):
    images = torch.rand(16, 1, 20, 20)
    first, again, other = (
        AUGMENTATIONS[name](images, torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_images_of_few_pixels_are_not_moved():
    images = torch.rand(16, 1, 8, 8)
    assert torch.equal(shift(images), images)


@pytest.mark.parametrize(("takes_images", "passes"), [(True, 20), (False, 40)])
def test_few_rows_are_passed_over_more_often(takes_images, passes):
    assert choose_recipe(takes_images, "adam", 20).max_iter == passes
    assert choose_recipe(takes_images, "adam", 4).max_iter == 100
    assert choose_recipe(takes_images, "adam", 4, max_iter=3).max_iter == 3
