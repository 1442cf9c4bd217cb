# SPDX-License-Identifier: Apache-2.0
"""Chroma's Settings, as far as they say something to an embedded library."""

from __future__ import annotations

from typing import Any

DEFAULT_TENANT = "default_tenant"
DEFAULT_DATABASE = "default_database"

# What changes nothing here: there is no telemetry, no server and no SQLite.
_WITHOUT_EFFECT = ("anonymized_telemetry", "chroma_api_impl", "chroma_db_impl", "migrations", "migrations_hash_algorithm",
                   "chroma_product_telemetry_impl", "chroma_telemetry_impl")
_SYNC_MODES = ("full", "interval", "off")


class Settings:
    """is_persistent, persist_directory and allow_reset as in Chroma; of our own sync_mode ("full", "interval", "off"), sync_interval_ms,
    memory_budget_bytes, flush_rows_max, flush_bytes_max, read_only, must_exist, reserve_bytes, background_threads, erase_log and map_files, which
    docs/operations.md explains. A name that is none of these is refused."""

    _OWN = {
        "is_persistent": False, "persist_directory": "./chroma", "allow_reset": False, "sync_mode": "full", "sync_interval_ms": 0,
        "memory_budget_bytes": 0, "flush_rows_max": 0, "flush_bytes_max": 0, "read_only": False, "must_exist": False,
        "reserve_bytes": 0, "background_threads": 0, "erase_log": False, "map_files": False,
    }

    is_persistent: bool
    persist_directory: str
    allow_reset: bool
    sync_mode: str

    def __init__(self, **given: Any) -> None:
        for name, value in {**self._OWN, **given}.items():
            if name not in self._OWN and name not in _WITHOUT_EFFECT:
                raise ValueError(f"no such setting: {name}; there are {', '.join(self._OWN)}")
            kind = type(self._OWN.get(name, value))
            if name != "persist_directory" and type(value) is not kind:
                raise TypeError(f"{name}: expected {kind.__name__}, got {value!r}")
            setattr(self, name, value)
        if self.sync_mode not in _SYNC_MODES:
            raise ValueError(f"sync_mode: expected one of {', '.join(_SYNC_MODES)}, got {self.sync_mode!r}")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no such setting: {name}")

    def open_values(self) -> dict[str, Any]:
        """Of the fields of pigment_open_options."""
        values = {name: getattr(self, name) for name in self._OWN
                  if name not in ("is_persistent", "persist_directory", "allow_reset", "sync_mode")}
        return {**values, "sync_mode": _SYNC_MODES.index(self.sync_mode)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"
