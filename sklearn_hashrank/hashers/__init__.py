"""One method per module, or per folder where it needs several rooms."""

__all__ = []
