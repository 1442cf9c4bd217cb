# SPDX-License-Identifier: Apache-2.0
"""Chroma's place of search expressions."""

from . import expression

__all__ = ["expression"]
