# SPDX-License-Identifier: Apache-2.0
"""Chroma's type names."""

from __future__ import annotations

from typing import Any, TypeVar, Union

import numpy as np
import numpy.typing as npt

from ..collection import ReadLevel, Where
from ..embedding import DataLoader, DefaultEmbeddingFunction, EmbeddingFunction
from ..results import GetResult, QueryResult, SearchResult
from ..schema import (
    DOCUMENT_KEY, EMBEDDING_KEY, BoolInvertedIndexConfig, BoolValueType, FloatInvertedIndexConfig, FloatListValueType, FloatValueType,
    FtsIndexConfig, HnswIndexConfig, IndexConfig, IndexType, IntInvertedIndexConfig, IntValueType, Schema, SpannIndexConfig,
    SparseVectorIndexConfig, SparseVectorValueType, StringInvertedIndexConfig, StringValueType, ValueTypes, VectorIndexConfig,
)

T = TypeVar("T")
OneOrMany = Union[T, list[T]]

ID = str
IDs = list[str]
Document = str
Documents = list[str]
URI = str
URIs = list[str]
Embedding = npt.NDArray[Union[np.float32, np.int32]]
Embeddings = list[Embedding]
Image = npt.NDArray[Any]
Images = list[Image]
LiteralValue = Union[str, int, float, bool]
MetadataValue = Union[str, int, float, bool, list[str], list[int], list[float], list[bool], dict[str, Any], None]  # dict: nested metadata
Metadata = dict[str, MetadataValue]
Metadatas = list[Metadata]
UpdateMetadata = Metadata
CollectionMetadata = dict[str, Any]
UpdateCollectionMetadata = UpdateMetadata
Include = list[str]
WhereDocument = Where
Embeddable = Union[Documents, Images]
Loadable = list[Any]
Space = str
FtsIndexType = IndexType[FtsIndexConfig]
VectorIndexType = IndexType[VectorIndexConfig]
SparseVectorIndexType = IndexType[SparseVectorIndexConfig]
StringInvertedIndexType = IndexType[StringInvertedIndexConfig]
IntInvertedIndexType = IndexType[IntInvertedIndexConfig]
FloatInvertedIndexType = IndexType[FloatInvertedIndexConfig]
BoolInvertedIndexType = IndexType[BoolInvertedIndexConfig]

__all__ = [
    "BoolInvertedIndexConfig", "BoolInvertedIndexType", "BoolValueType", "CollectionMetadata", "DOCUMENT_KEY", "DataLoader",
    "DefaultEmbeddingFunction", "Document", "Documents", "EMBEDDING_KEY", "Embeddable", "Embedding", "EmbeddingFunction", "Embeddings",
    "FloatInvertedIndexConfig", "FloatInvertedIndexType", "FloatListValueType", "FloatValueType", "FtsIndexConfig", "FtsIndexType", "GetResult",
    "HnswIndexConfig", "ID", "IDs", "Image", "Images", "Include", "IndexConfig", "IntInvertedIndexConfig", "IntInvertedIndexType", "IntValueType",
    "LiteralValue", "Loadable", "Metadata", "Metadatas", "OneOrMany", "QueryResult", "ReadLevel", "Schema", "SearchResult", "Space",
    "SpannIndexConfig", "SparseVectorIndexConfig", "SparseVectorIndexType", "SparseVectorValueType", "StringInvertedIndexConfig",
    "StringInvertedIndexType", "StringValueType", "URI", "URIs", "UpdateCollectionMetadata", "UpdateMetadata", "ValueTypes", "VectorIndexConfig",
    "VectorIndexType", "Where", "WhereDocument",
]
