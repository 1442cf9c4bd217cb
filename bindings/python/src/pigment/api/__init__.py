# SPDX-License-Identifier: Apache-2.0
"""Names under which Chroma's programs import types."""

from ..client import AdminClient as AdminAPI
from ..client import Client as ClientAPI
from . import client, models, shared_system_client, types

__all__ = ["AdminAPI", "ClientAPI", "client", "models", "shared_system_client", "types"]
