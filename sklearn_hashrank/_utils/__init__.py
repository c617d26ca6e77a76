"""What the whole package uses and no user sees: callbacks, threads."""
