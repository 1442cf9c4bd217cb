# SPDX-License-Identifier: Apache-2.0
"""Chroma's place of its client classes."""

from ..client import AdminClient, Client, SharedSystemClient

__all__ = ["AdminClient", "Client", "SharedSystemClient"]
