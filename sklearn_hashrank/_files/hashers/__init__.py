"""Fitted hashers in checked files."""
