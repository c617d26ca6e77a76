"""The space of features that linear hashers learn in."""
