# SPDX-License-Identifier: Apache-2.0
"""Chroma's place of the class."""

from ..client import SharedSystemClient

__all__ = ["SharedSystemClient"]
