# SPDX-License-Identifier: Apache-2.0
"""The functions that come with the package. Chroma's others are wrappers of services: any of their classes can be given as it is."""

from ..embedding import (
    DefaultEmbeddingFunction, EmbeddingFunction, LexicalEmbeddingFunction, SentenceTransformerEmbeddingFunction,
    register_embedding_function,
)

__all__ = [
    "DefaultEmbeddingFunction", "EmbeddingFunction", "LexicalEmbeddingFunction", "SentenceTransformerEmbeddingFunction",
    "register_embedding_function",
]
