# SPDX-License-Identifier: Apache-2.0
"""Chroma's place of AsyncCollection."""

from ...aio import AsyncCollection

__all__ = ["AsyncCollection"]
