// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/pigment-db/pigment/bindings/go"
)

// Why an answer is not what a script expects; "" when it is. Within metadata (exact) 1 and 1.0 are different values, elsewhere numbers are
// f32 that went through text.
func mismatch(expected, actual any, path string, exact bool) string {
	differ := func() string { return fmt.Sprintf("%s: expected %v, got %v", path, show(expected), show(actual)) }
	if isSpecial(expected, "$any") {
		return ""
	}
	if a, ok := number(expected); ok {
		b, ok := number(actual)
		if !ok || exact && !reflect.DeepEqual(expected, actual) || !exact && a != b && math.Abs(a-b) > 1e-5*max(math.Abs(a), math.Abs(b))+1e-7 {
			return differ()
		}
		return ""
	}
	switch e := expected.(type) {
	case []any:
		a, ok := actual.([]any)
		if !ok || len(a) != len(e) {
			return differ()
		}
		for i := range e {
			if why := mismatch(e[i], a[i], fmt.Sprintf("%s[%d]", path, i), exact); why != "" {
				return why
			}
		}
		return ""
	case map[string]any:
		a, ok := actual.(map[string]any)
		if !ok || exact && len(a) > len(e) {
			return differ()
		}
		for key, value := range e {
			got, there := a[key]
			if isSpecial(value, "$absent") {
				if there {
					return fmt.Sprintf("%s.%s: expected to be absent, got %v", path, key, show(got))
				}
				continue
			}
			if !there {
				return fmt.Sprintf("%s.%s: is missing in %v", path, key, show(actual))
			}
			if why := mismatch(value, got, path+"."+key, exact || key == "metadatas" || key == "metadata"); why != "" {
				return why
			}
		}
		return ""
	}
	if expected != actual {
		return differ()
	}
	return ""
}

func isSpecial(value any, word string) bool {
	object, ok := value.(map[string]any)
	return ok && len(object) == 1 && object[word] != nil
}

func number(value any) (float64, bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return fmt.Sprintf("%.2000s", text)
}

func errorMismatch(expected json.RawMessage, err error) string {
	var e *pigment.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("expected the error %s", expected)
	}
	var want struct {
		Code, Detail string
		Row          *int
		Message      []string
	}
	if err := json.Unmarshal(expected, &want); err != nil {
		return err.Error()
	}
	if name(e.Code) != want.Code {
		return "another code, " + name(e.Code)
	}
	if want.Detail != "" && name(e.Detail) != want.Detail {
		return "another detail, " + name(e.Detail)
	}
	if want.Row != nil && e.Row != *want.Row {
		return fmt.Sprintf("another row, %d", e.Row)
	}
	for _, part := range want.Message {
		if !strings.Contains(e.Message, part) {
			return fmt.Sprintf("no %q in it", part)
		}
	}
	return ""
}

// "invalid argument" as in the header.
func name(of fmt.Stringer) string {
	return strings.ToUpper(strings.ReplaceAll(of.String(), " ", "_"))
}
