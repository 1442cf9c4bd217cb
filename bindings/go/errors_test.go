// SPDX-License-Identifier: Apache-2.0

package pigment

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

func TestEveryFunctionOfTheHeaderIsCalled(t *testing.T) {
	for _, name := range uncalledFunctions {
		t.Errorf("%s: no method calls it, and bindings/tables/for_go.py names no reason", name)
	}
	for _, name := range staleReasons {
		t.Errorf("%s: bindings/tables/for_go.py says why it is not called, but it is, or there is no such function", name)
	}
}

// The sentinels, by the name of the variable in generated.go.
func sentinels(t *testing.T) map[string]*sentinel {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "generated.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]*sentinel{}
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Err") {
			named[spec.Names[0].Name] = nil
		}
		return true
	})
	for name, of := range map[string]error{
		"ErrNotFound": ErrNotFound, "ErrAlreadyExists": ErrAlreadyExists, "ErrInvalidArgument": ErrInvalidArgument, "ErrClosed": ErrClosed,
		"ErrLocked": ErrLocked, "ErrDataLoss": ErrDataLoss, "ErrDuplicateID": ErrDuplicateID, "ErrStale": ErrStale,
	} {
		if _, there := named[name]; !there {
			t.Errorf("%s is not in generated.go", name)
		}
		named[name] = of.(*sentinel)
	}
	return named
}

func TestErrorsAreTheSentinelsOfTheirCodeAndDetail(t *testing.T) {
	if n := len(sentinels(t)); n < 18+24 {
		t.Errorf("only %d sentinels", n)
	}
	e := fmt.Errorf("wrapped: %w", &Error{Code: CodeFailedPrecondition, Detail: DetailClosed})
	for _, c := range []struct {
		target error
		is     bool
	}{
		{ErrFailedPrecondition, true}, {ErrClosed, true}, {ErrLocked, false}, {ErrInternal, false}, {errors.New("pigment: closed"), false},
	} {
		if errors.Is(e, c.target) != c.is {
			t.Errorf("%v is %v: %v", e, c.target, !c.is)
		}
	}
	if errors.Is(&Error{Code: CodeNotFound}, ErrClosed) || errors.Is(&Error{}, ErrInvalidArgument) {
		t.Error("an error is a sentinel of another code")
	}
}

func TestCodesHaveTheFactsOfTheLibrary(t *testing.T) {
	if CodeInvalidArgument.String() != "invalid argument" || CodeInvalidArgument.SQLState() != "22023" ||
		CodeInvalidArgument.Fault() != FaultCaller || CodeInvalidArgument.Retryable() || !CodeUnavailable.Retryable() {
		t.Error(CodeInvalidArgument, CodeInvalidArgument.SQLState(), CodeInvalidArgument.Fault())
	}
	if Code(99).String() != "code 99" || Code(99).SQLState() != "" || Code(99).Fault() != FaultNone || Code(-1).Retryable() {
		t.Error("a code that does not exist has facts")
	}
	if DetailDuplicateID.String() != "duplicate id" || Detail(9999).String() != "detail 9999" {
		t.Error(DetailDuplicateID)
	}
	if (&Error{Code: CodeInternal}).Error() != "pigment: internal" || !(&Error{Code: CodeUnavailable}).Retryable() {
		t.Error((&Error{Code: CodeInternal}).Error())
	}
}

func TestLibraryNamesItself(t *testing.T) {
	if Version() != headerVersion || BuildInfo() == "" {
		t.Errorf("%q, %q", Version(), BuildInfo())
	}
	if err := checkLibrary(loadedABI()); err != nil {
		t.Error(err)
	}
	if err := checkLibrary(loadedABI() + 1); !errors.Is(err, ErrVersionMismatch) || !strings.Contains(err.Error(), Version()) {
		t.Error(err)
	}
	limits, err := Limits()
	if err != nil || len(limits) < 10 {
		t.Fatalf("%v, %v", limits, err)
	}
	for _, limit := range limits {
		if limit.Name == "" || limit.Most == 0 || limit.Status == "" || limit.Of == "" {
			t.Errorf("%+v", limit)
		}
	}
}
