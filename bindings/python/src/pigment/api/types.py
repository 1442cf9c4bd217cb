# SPDX-License-Identifier: Apache-2.0
"""Chroma's type names."""

from __future__ import annotations

from typing import Any, TypeVar, Union

import numpy as np
import numpy.typing as npt

from ..collection import Where
from ..embedding import DataLoader, DefaultEmbeddingFunction, EmbeddingFunction
from ..results import GetResult, QueryResult

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
MetadataValue = Union[str, int, float, bool, list[str], list[int], list[float], list[bool], None]
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

__all__ = [
    "CollectionMetadata", "DataLoader", "DefaultEmbeddingFunction", "Document", "Documents", "Embeddable", "Embedding",
    "EmbeddingFunction", "Embeddings", "GetResult", "ID", "IDs", "Image", "Images", "Include", "Loadable", "Metadata", "Metadatas",
    "OneOrMany", "QueryResult", "Space", "URI", "URIs", "UpdateCollectionMetadata", "UpdateMetadata", "Where", "WhereDocument",
]
