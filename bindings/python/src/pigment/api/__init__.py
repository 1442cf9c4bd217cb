# SPDX-License-Identifier: Apache-2.0
"""Names under which Chroma's programs import types."""

from ..aio import AsyncClient as AsyncClientAPI
from ..client import AdminClient as AdminAPI
from ..client import Client as ClientAPI
from . import client, collection_configuration, models, shared_system_client, types
from .collection_configuration import CreateCollectionConfiguration, UpdateCollectionConfiguration

__all__ = [
    "AdminAPI", "AsyncClientAPI", "ClientAPI", "CreateCollectionConfiguration", "UpdateCollectionConfiguration", "client", "collection_configuration",
    "models", "shared_system_client", "types",
]
