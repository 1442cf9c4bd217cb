# SPDX-License-Identifier: Apache-2.0
"""Chroma's place of Collection."""
