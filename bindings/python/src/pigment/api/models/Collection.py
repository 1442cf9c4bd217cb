# SPDX-License-Identifier: Apache-2.0
"""Chroma's place of Collection."""

from ...collection import Collection

__all__ = ["Collection"]
