# SPDX-License-Identifier: Apache-2.0
"""A program of somebody who has installed the wheel."""

import sys

import pigment

assert pigment.__file__.startswith(sys.argv[1]), pigment.__file__  # the one that was installed there
colours = pigment.EphemeralClient().create_collection("colours", embedding_function=pigment.LexicalEmbeddingFunction())
colours.add(ids=["red", "green"], documents=["a red fish", "a green field"])
print(f"pigment {pigment.__version__}: {colours.query(query_texts=['red fishes'], n_results=1)['ids'][0][0]}")
