# SPDX-License-Identifier: Apache-2.0
"""Chroma's place of embedding functions and batches."""

from . import batch_utils, embedding_functions

__all__ = ["batch_utils", "embedding_functions"]
