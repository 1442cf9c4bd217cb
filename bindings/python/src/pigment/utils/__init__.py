# SPDX-License-Identifier: Apache-2.0
"""Chroma's place of embedding functions."""

from . import embedding_functions

__all__ = ["embedding_functions"]
