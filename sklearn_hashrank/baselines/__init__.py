"""The yardsticks every learned hasher is compared with."""
