// SPDX-License-Identifier: Apache-2.0

package pigment

// #include "shim.h"
import "C"

import (
	"fmt"
	"strconv"
)

// An Error is what every failing call gives. Message is in lower case and names the object and the value.
type Error struct {
	Code    Code
	Detail  Detail
	Message string
	Hint    string // what to do about it, or ""
	Row     int    // the row of the batch that is wrong, or -1
	File    string // the file that is damaged, or ""
	Offset  int64  // where in that file, or -1
	cause   []error
}

func (e *Error) Error() string {
	if e.Message == "" {
		return "pigment: " + e.Code.String()
	}
	return "pigment: " + e.Message
}

// Is tells [errors.Is] that an error is the sentinel of its code, and that of its detail.
func (e *Error) Is(target error) bool {
	s, ok := target.(*sentinel)
	if !ok {
		return false
	}
	if s.detail != DetailNone {
		return e.Detail == s.detail
	}
	return e.Code == s.code
}

// Unwrap gives what the context says where that ended the call, and what an embedding function returned where that failed.
func (e *Error) Unwrap() []error { return e.cause }

// Retryable is true when the same call may succeed later without being changed.
func (e *Error) Retryable() bool { return e.Code.Retryable() }

// A sentinel is one of the Err variables.
type sentinel struct {
	code   Code
	detail Detail
	text   string
}

func (s *sentinel) Error() string { return "pigment: " + s.text }

// String gives the code's name, such as "invalid argument".
func (c Code) String() string {
	if name := C.pigment_status_name(C.pigment_status(c)); name != nil {
		return C.GoString(name)
	}
	return "code " + strconv.Itoa(int(c))
}

// SQLState gives the state that PostgreSQL's twin of an error has, or "" for a code that does not exist.
func (c Code) SQLState() string { return C.GoString(C.pigment_status_sqlstate(C.pigment_status(c))) }

// Retryable is true when a call that failed so may succeed later without being changed.
func (c Code) Retryable() bool { return bool(C.pigment_status_retryable(C.pigment_status(c))) }

// Fault says whose doing an error of this code is.
func (c Code) Fault() Fault { return Fault(C.pigment_status_fault(C.pigment_status(c))) }

// String gives the detail's name, such as "duplicate id".
func (d Detail) String() string {
	if name, ok := detailNames[d]; ok {
		return name
	}
	return "detail " + strconv.Itoa(int(d))
}

// An invalid argument that only Go can see, because the C interface has no way to express it.
func invalid(detail Detail, row int, format string, values ...any) *Error {
	return &Error{Code: CodeInvalidArgument, Detail: detail, Message: fmt.Sprintf(format, values...), Row: row, Offset: -1}
}

func closed(what string) *Error {
	return &Error{Code: CodeFailedPrecondition, Detail: DetailClosed, Message: what + " is closed", Row: -1, Offset: -1}
}

// Takes the error of a call and frees it.
func take(done C.pgo_done) error {
	if done.status == C.PIGMENT_OK {
		return nil
	}
	return taken(done.status, done.error)
}

func taken(status C.pigment_status, from *C.pigment_error) *Error {
	e := &Error{Code: Code(status), Row: -1, Offset: -1}
	if from == nil {
		return e
	}
	e.Code = Code(C.pigment_error_status(from))
	e.Detail = Detail(C.pigment_error_detail(from))
	e.Message = C.GoString(C.pigment_error_message(from))
	e.Hint = C.GoString(C.pigment_error_hint(from))
	e.Row = int(C.pigment_error_row(from))
	e.File = C.GoString(C.pigment_error_file(from))
	e.Offset = int64(C.pigment_error_offset(from))
	C.pigment_error_free(from)
	return e
}
