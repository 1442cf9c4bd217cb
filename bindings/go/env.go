// SPDX-License-Identifier: Apache-2.0

package pigment

import (
	"os"
	"strconv"
	"time"
)

// FromEnv opens the store that the environment names: PIGMENT_PATH is its directory; unset, empty or ":memory:" it is in memory.
// PIGMENT_TENANT and PIGMENT_DATABASE are for calls that name none. The other variables are those of [OpenOptions] under their names in C:
// PIGMENT_SYNC_MODE (full, interval, off), PIGMENT_SYNC_INTERVAL_MS, PIGMENT_MEMORY_BUDGET_BYTES, PIGMENT_FLUSH_ROWS_MAX,
// PIGMENT_FLUSH_BYTES_MAX, PIGMENT_READ_ONLY, PIGMENT_MUST_EXIST, PIGMENT_RESERVE_BYTES, PIGMENT_BACKGROUND_THREADS, PIGMENT_ERASE_LOG,
// PIGMENT_MAP_FILES. Flags are 1 or true, 0 or false. One that is unset or empty is the default, and one that is not understood an error. The
// library itself reads no environment.
func FromEnv() (*Client, error) {
	path, options, err := optionsFromEnv(os.Getenv)
	if err != nil {
		return nil, err
	}
	return open(path, options)
}

func optionsFromEnv(get func(string) string) (path string, options *OpenOptions, err error) {
	e := environment{get: get}
	if path = get("PIGMENT_PATH"); path == ":memory:" {
		path = ""
	}
	options = &OpenOptions{
		Scope:             Scope{get("PIGMENT_TENANT"), get("PIGMENT_DATABASE")},
		Sync:              e.syncMode("PIGMENT_SYNC_MODE"),
		SyncInterval:      time.Duration(e.unsigned("PIGMENT_SYNC_INTERVAL_MS", 32)) * time.Millisecond,
		MemoryBudgetBytes: e.unsigned("PIGMENT_MEMORY_BUDGET_BYTES", 64),
		FlushRowsMax:      uint32(e.unsigned("PIGMENT_FLUSH_ROWS_MAX", 32)),
		FlushBytesMax:     e.unsigned("PIGMENT_FLUSH_BYTES_MAX", 64),
		ReadOnly:          e.flag("PIGMENT_READ_ONLY"),
		MustExist:         e.flag("PIGMENT_MUST_EXIST"),
		ReserveBytes:      e.unsigned("PIGMENT_RESERVE_BYTES", 64),
		BackgroundThreads: e.signed("PIGMENT_BACKGROUND_THREADS"),
		EraseLog:          e.flag("PIGMENT_ERASE_LOG"),
		MapFiles:          e.flag("PIGMENT_MAP_FILES"),
	}
	if e.wrong != nil {
		return "", nil, e.wrong
	}
	return path, options, nil
}

// An environment keeps the first thing that it does not understand.
type environment struct {
	get   func(string) string
	wrong error
}

func (e *environment) refuse(name, value, expected string) {
	if e.wrong == nil {
		e.wrong = invalid(DetailNone, -1, "%s is %q, expected %s", name, value, expected)
	}
}

func (e *environment) syncMode(name string) SyncMode {
	switch value := e.get(name); value {
	case "", "full":
		return SyncFull
	case "interval":
		return SyncInterval
	case "off":
		return SyncOff
	default:
		e.refuse(name, value, "full, interval or off")
		return SyncFull
	}
}

func (e *environment) unsigned(name string, bits int) uint64 {
	value := e.get(name)
	if value == "" {
		return 0
	}
	number, err := strconv.ParseUint(value, 10, bits)
	if err != nil {
		e.refuse(name, value, "a whole number")
	}
	return number
}

func (e *environment) signed(name string) int {
	value := e.get(name)
	if value == "" {
		return 0
	}
	number, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		e.refuse(name, value, "a whole number")
	}
	return int(number)
}

func (e *environment) flag(name string) bool {
	switch value := e.get(name); value {
	case "", "0", "false":
		return false
	case "1", "true":
		return true
	default:
		e.refuse(name, value, "true or false")
		return false
	}
}
