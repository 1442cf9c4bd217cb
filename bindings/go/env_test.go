// SPDX-License-Identifier: Apache-2.0

package pigment

import (
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestFromEnvReadsEveryOption(t *testing.T) {
	given := map[string]string{
		"PIGMENT_PATH": "/some/where", "PIGMENT_TENANT": "acme", "PIGMENT_DATABASE": "papers", "PIGMENT_SYNC_MODE": "interval", "PIGMENT_SYNC_INTERVAL_MS": "250", "PIGMENT_MEMORY_BUDGET_BYTES": "1000000",
		"PIGMENT_FLUSH_ROWS_MAX": "10", "PIGMENT_FLUSH_BYTES_MAX": "20", "PIGMENT_READ_ONLY": "true", "PIGMENT_MUST_EXIST": "1",
		"PIGMENT_RESERVE_BYTES": "18446744073709551615", "PIGMENT_BACKGROUND_THREADS": "-1", "PIGMENT_ERASE_LOG": "true", "PIGMENT_MAP_FILES": "1",
	}
	path, options, err := optionsFromEnv(func(name string) string { return given[name] })
	wanted := OpenOptions{
		Scope: Scope{"acme", "papers"},
		Sync:  SyncInterval, SyncInterval: 250 * time.Millisecond, MemoryBudgetBytes: 1000000, FlushRowsMax: 10, FlushBytesMax: 20,
		ReadOnly: true, MustExist: true, ReserveBytes: math.MaxUint64, BackgroundThreads: -1, EraseLog: true, MapFiles: true,
	}
	if err != nil || path != "/some/where" || *options != wanted {
		t.Errorf("%q, %+v, %v", path, options, err)
	}
	for i := range reflect.TypeFor[OpenOptions]().NumField() {
		if reflect.ValueOf(wanted).Field(i).IsZero() {
			t.Errorf("%s cannot be given", reflect.TypeFor[OpenOptions]().Field(i).Name)
		}
	}
}

func TestFromEnvRefusesWhatItDoesNotUnderstand(t *testing.T) {
	for name, value := range map[string]string{
		"PIGMENT_SYNC_MODE": "FULL", "PIGMENT_SYNC_INTERVAL_MS": "1.5", "PIGMENT_MEMORY_BUDGET_BYTES": "-1",
		"PIGMENT_FLUSH_ROWS_MAX": "4294967296", "PIGMENT_READ_ONLY": "yes", "PIGMENT_BACKGROUND_THREADS": "many",
	} {
		_, _, err := optionsFromEnv(func(asked string) string {
			if asked == name {
				return value
			}
			return map[string]string{"PIGMENT_PATH": "x"}[asked]
		})
		if !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}

func TestFromEnvOpens(t *testing.T) {
	for _, path := range []string{"", ":memory:", filepath.Join(t.TempDir(), "store")} {
		t.Setenv("PIGMENT_PATH", path)
		client, err := FromEnv()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.CreateCollection(t.Context(), "docs", nil); err != nil {
			t.Error(err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Setenv("PIGMENT_DATABASE", "papers") // there is none yet
	client, err := FromEnv()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.CreateCollection(t.Context(), "more", nil); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	t.Setenv("PIGMENT_MUST_EXIST", "true")
	t.Setenv("PIGMENT_PATH", filepath.Join(t.TempDir(), "nowhere"))
	if _, err := FromEnv(); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
}
