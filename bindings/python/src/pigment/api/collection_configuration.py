# SPDX-License-Identifier: Apache-2.0
"""Chroma's types of configurations, which are dictionaries."""

from __future__ import annotations

from typing import Any, TypedDict


class HNSWConfiguration(TypedDict, total=False):
    space: str
    ef_construction: int
    max_neighbors: int
    ef_search: int
    num_threads: int
    batch_size: int
    sync_threshold: int
    resize_factor: float


class SpannConfiguration(TypedDict, total=False):
    search_nprobe: int
    write_nprobe: int
    space: str
    ef_construction: int
    ef_search: int
    max_neighbors: int
    reassign_neighbor_count: int
    split_threshold: int
    merge_threshold: int


class CollectionConfiguration(TypedDict, total=True):
    hnsw: HNSWConfiguration | None
    spann: SpannConfiguration | None
    embedding_function: Any


class CreateCollectionConfiguration(TypedDict, total=False):
    """`text_index`, `full_vectors` and `nested_metadata` are beyond Chroma."""

    hnsw: CreateHNSWConfiguration | None
    spann: CreateSpannConfiguration | None
    embedding_function: Any
    text_index: dict[str, Any] | None
    full_vectors: str
    nested_metadata: bool


class UpdateHNSWConfiguration(TypedDict, total=False):
    ef_search: int
    num_threads: int
    batch_size: int
    sync_threshold: int
    resize_factor: float


class UpdateSpannConfiguration(TypedDict, total=False):
    search_nprobe: int
    ef_search: int


class UpdateCollectionConfiguration(TypedDict, total=False):
    """Of `text_index` k1 and b can change."""

    hnsw: UpdateHNSWConfiguration | None
    spann: UpdateSpannConfiguration | None
    embedding_function: Any
    text_index: dict[str, Any] | None


CreateHNSWConfiguration = HNSWConfiguration
CreateSpannConfiguration = SpannConfiguration

__all__ = [
    "CollectionConfiguration", "CreateCollectionConfiguration", "CreateHNSWConfiguration", "CreateSpannConfiguration", "HNSWConfiguration",
    "SpannConfiguration", "UpdateCollectionConfiguration", "UpdateHNSWConfiguration", "UpdateSpannConfiguration",
]
