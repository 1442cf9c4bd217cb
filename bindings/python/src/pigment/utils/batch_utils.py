# SPDX-License-Identifier: Apache-2.0
"""Chroma's way to split what is too much for one batch."""

from __future__ import annotations

from typing import Any

from ..client import Client


def create_batches(api: Client, ids: list[str], embeddings: Any = None, metadatas: Any = None,
                   documents: Any = None) -> list[tuple[list[str], Any, Any, Any]]:
    """(ids, embeddings, metadatas, documents) in parts of get_max_batch_size(), which here is more than anybody has: add takes it all."""
    size = api.get_max_batch_size()
    if len(ids) <= size:
        return [(ids, embeddings, metadatas, documents)]
    columns = (ids, embeddings, metadatas, documents)
    return [tuple(None if column is None else column[begin:begin + size] for column in columns)  # type: ignore[misc]
            for begin in range(0, len(ids), size)]
