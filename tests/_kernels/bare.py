"""Kernels in a process of their own, without what the package imports, which takes a second."""

import sklearn_hashrank

BARE = f"""
import sys, types
sys.modules["sklearn_hashrank"] = package = types.ModuleType("sklearn_hashrank")
package.__path__ = {list(sklearn_hashrank.__path__)!r}
"""
"""The start of a program that imports nothing but kernels."""
