// SPDX-License-Identifier: Apache-2.0

package pigment

// #include "shim.h"
import "C"

import (
	"context"
	"encoding/json"
)

// A Compaction says what a compaction did.
type Compaction struct {
	Records     uint64 // live ones
	SegmentsIn  uint64
	SegmentsOut uint64
	BytesBefore uint64 // of segments and their deletions
	BytesAfter  uint64
}

func compactionOf(c C.pgo_compacted) Compaction {
	return Compaction{uint64(c.records), uint64(c.segments_in), uint64(c.segments_out), uint64(c.bytes_before), uint64(c.bytes_after)}
}

// Compact merges the segments of all collections as far as that saves anything, and gives their disk space back.
func (c *Client) Compact(ctx context.Context) (Compaction, error) {
	var compacted C.pgo_compacted
	err := c.call(ctx, func(k C.pgo_call) C.pgo_done {
		compacted = C.pgo_compact(c.c, nil, k)
		return compacted.done
	})
	return compactionOf(compacted), err
}

// A BackupReport says what a backup copied.
type BackupReport struct {
	Position    uint64 `json:"position"`
	Collections uint64 `json:"collections"`
	Files       uint64 `json:"files"`
	Bytes       uint64 `json:"bytes"`
}

// Backup copies the store as it is at one moment into another directory, while writers go on; it works for a store in memory too. Until it
// succeeds the copy does not open.
func (c *Client) Backup(ctx context.Context, path string) (BackupReport, error) {
	var report BackupReport
	var answer C.pgo_json
	err := c.call(ctx, func(k C.pgo_call) C.pgo_done {
		answer = C.pgo_backup(c.c, textOf(path), k)
		return answer.done
	})
	if err != nil {
		return report, err
	}
	return report, decoded(answer, &report)
}

// A CheckReport is what a check found; Clean when no finding is an error.
type CheckReport struct {
	Clean           bool        `json:"clean"`
	Position        uint64      `json:"position"`
	Errors          uint64      `json:"errors"`
	Warnings        uint64      `json:"warnings"`
	Findings        []Finding   `json:"findings"`
	FindingsLeftOut uint64      `json:"findings_left_out"`
	Totals          CheckTotals `json:"totals"`
}

// A Finding is something that a check found.
type Finding struct {
	Severity   string `json:"severity"` // "error", "warning", "note"
	Code       string `json:"code"`     // name of a status
	Detail     Detail `json:"detail"`
	Collection string `json:"collection"`
	File       string `json:"file"`
	Offset     int64  `json:"offset"`
	Message    string `json:"message"`
}

// CheckTotals counts what a check looked at.
type CheckTotals struct {
	Collections uint64 `json:"collections"`
	Files       uint64 `json:"files"`
	Bytes       uint64 `json:"bytes"`
	Segments    uint64 `json:"segments"`
	Rows        uint64 `json:"rows"`
	LiveRows    uint64 `json:"live_rows"`
	LogBatches  uint64 `json:"log_batches"`
	RowsQueried uint64 `json:"rows_queried"`
}

// Check reads every byte and compares everything with everything, changes nothing, and succeeds whatever it finds. With full every row is
// searched for by its own vector, else a sample.
func (c *Client) Check(ctx context.Context, full bool) (CheckReport, error) {
	return checkReport(func(into *C.pgo_json) error {
		return c.call(ctx, func(k C.pgo_call) C.pgo_done {
			*into = C.pgo_check(c.c, C.pgo_text{}, C.bool(full), k)
			return into.done
		})
	})
}

// CheckDirectory is [Client.Check] for a directory that is open in another process or not at all.
func CheckDirectory(ctx context.Context, path string, full bool) (CheckReport, error) {
	return checkReport(func(into *C.pgo_json) error {
		return callLibrary(ctx, func(k C.pgo_call) C.pgo_done {
			*into = C.pgo_check(nil, textOf(path), C.bool(full), k)
			return into.done
		})
	})
}

func checkReport(f func(into *C.pgo_json) error) (CheckReport, error) {
	var report CheckReport
	var answer C.pgo_json
	if err := f(&answer); err != nil {
		return report, err
	}
	return report, decoded(answer, &report)
}

// A RepairReport says what a repair could save.
type RepairReport struct {
	Lossless         bool                 `json:"lossless"`
	Catalog          string               `json:"catalog"` // "whole", "damaged", "lost"
	Position         uint64               `json:"position"`
	LogBatches       uint64               `json:"log_batches"`
	LogBatchesLost   uint64               `json:"log_batches_lost"`
	LogWhole         bool                 `json:"log_whole"`
	ShelfRecordsLost uint64               `json:"shelf_records_lost"`
	Collections      []RepairedCollection `json:"collections"`
	Messages         []string             `json:"messages"`
}

// A RepairedCollection is what was saved of one.
type RepairedCollection struct {
	Name              string `json:"name"`
	Recovered         bool   `json:"recovered"`
	Rows              uint64 `json:"rows"`
	RowsLost          uint64 `json:"rows_lost"`
	DeletionsLost     uint64 `json:"deletions_lost"`
	SegmentsRewritten uint64 `json:"segments_rewritten"`
}

// Repair writes a new store into the directory `to` with everything of the one in `from` that can be read; from is not changed, and nobody may
// write to it meanwhile.
func Repair(ctx context.Context, from, to string) (RepairReport, error) {
	var report RepairReport
	var answer C.pgo_json
	err := callLibrary(ctx, func(k C.pgo_call) C.pgo_done {
		answer = C.pgo_repair(textOf(from), textOf(to), k)
		return answer.done
	})
	if err != nil {
		return report, err
	}
	return report, decoded(answer, &report)
}

// Statistics says how the store is, as JSON: version, position, log, catalog, memory, maintenance, formats, migrations. Members are only
// ever added, so it is not a struct: decode what you look for.
func (c *Client) Statistics(ctx context.Context) (json.RawMessage, error) {
	if err := c.enter(ctx); err != nil {
		return nil, err
	}
	defer c.release()
	return rawJSON(C.pgo_client_json(C.PGO_STATISTICS, c.c))
}

// Runs f with what ctx says.
func (c *Client) call(ctx context.Context, f func(C.pgo_call) C.pgo_done) error {
	if err := c.acquire(); err != nil {
		return err
	}
	defer c.release()
	return callLibrary(ctx, f)
}

// The same where no client is needed.
func callLibrary(ctx context.Context, f func(C.pgo_call) C.pgo_done) error {
	var k call
	if err := k.begin(ctx, 0, false); err != nil {
		return err
	}
	return k.finish(f(k.c))
}
