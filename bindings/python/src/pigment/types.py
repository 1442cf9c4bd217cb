# SPDX-License-Identifier: Apache-2.0
"""Chroma's other place of type names."""

from .api.types import LiteralValue, Metadata, UpdateMetadata, Where, WhereDocument

__all__ = ["LiteralValue", "Metadata", "UpdateMetadata", "Where", "WhereDocument"]
