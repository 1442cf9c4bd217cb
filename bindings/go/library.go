// SPDX-License-Identifier: Apache-2.0

package pigment

// #cgo pkg-config: pigment
// #cgo CFLAGS: -std=gnu11 -Wall -Wextra -Werror
// #include "shim.h"
import "C"

import (
	"encoding/json"
	"fmt"
)

// Version is that of the library that is loaded, such as "0.2.0".
func Version() string { return C.GoString(C.pigment_version()) }

// BuildInfo names the library's compiler, revision and vector instructions, for bug reports.
func BuildInfo() string { return C.GoString(C.pigment_build_info()) }

// A Limit is something that the library refuses to go beyond.
type Limit struct {
	Name   string `json:"name"`
	Most   uint64 `json:"most"`
	Status string `json:"status"` // what is beyond it fails with: "RESOURCE_EXHAUSTED"
	Of     string `json:"of"`
}

// Limits lists what the library refuses to go beyond; what is not there is bounded by memory and disk alone.
func Limits() ([]Limit, error) {
	var limits []Limit
	return limits, decoded(C.pgo_client_json(C.PGO_LIMITS, nil), &limits)
}

// The library that was loaded is one that this package knows.
func checkLibrary(abi int) error {
	if abi != headerABIVersion {
		return &Error{
			Code: CodeVersionMismatch, Row: -1, Offset: -1,
			Message: fmt.Sprintf("libpigment %s has ABI %d, this package was made for ABI %d (%s)", Version(), abi, headerABIVersion, headerVersion),
		}
	}
	return nil
}

func loadedABI() int { return int(C.pigment_abi_version()) }

// Takes the JSON text of an answer; nil where there is none.
func rawJSON(answer C.pgo_json) (json.RawMessage, error) {
	if err := take(answer.done); err != nil {
		return nil, err
	}
	defer C.pigment_buffer_free(answer.buffer)
	return json.RawMessage(goText(answer.text)), nil
}

func decoded(answer C.pgo_json, into any) error {
	raw, err := rawJSON(answer)
	if err != nil {
		return err
	}
	return decode(raw, into)
}

func decode(raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return &Error{Code: CodeInternal, Message: fmt.Sprintf("the library's answer is not understood: %v: %.200s", err, raw), Row: -1, Offset: -1}
	}
	return nil
}
