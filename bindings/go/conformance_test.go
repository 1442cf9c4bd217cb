// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pigment-db/pigment/bindings/go"
)

// The scripts of tests/conformance, in memory and in a directory, through this binding: see README.md there.

type script struct {
	file, name, home string
	steps            []step
}

type step struct {
	line   int
	text   string
	Op     string
	Args   map[string]json.RawMessage
	Expect json.RawMessage
	Error  json.RawMessage
}

// Steps that Go's types have no words for, by reason. One that is never met fails.
var exceptions = map[string]func(s step) bool{
	"zero-is-default: an NResults of 0 is the default": func(s step) bool {
		return s.Op == "query" && string(s.Args["n_results"]) == "0"
	},
	"empty-is-absent: an empty Cursor is none": func(s step) bool {
		return s.Op == "get" && string(s.Args["cursor"]) == `""`
	},
	"no-null-id: an id is a string, and a string is there": func(s step) bool {
		return regexp.MustCompile(`[\[,]\s*null\b`).Match(s.Args["ids"])
	},
}

func TestConformance(t *testing.T) {
	files, err := filepath.Glob("../../tests/conformance/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	done, left := 0, map[string]int{}
	for _, file := range files {
		for _, one := range readScripts(t, file) {
			for _, home := range []string{"memory", "directory"} {
				if one.home != "both" && one.home != home {
					continue
				}
				name := strings.TrimSuffix(filepath.Base(file), ".jsonl") + "/" + one.name + "/" + home
				t.Run(name, func(t *testing.T) { done += runScript(t, one, home, left) })
			}
		}
	}
	if done < 1500 {
		t.Errorf("only %d steps were run", done)
	}
	for reason := range exceptions {
		if left[reason] == 0 {
			t.Errorf("no step needs the exception %s", reason)
		}
		t.Logf("left out %d steps: %s", left[reason], reason)
	}
	t.Logf("%d steps in %d files", done, len(files))
}

func readScripts(t *testing.T, path string) []script {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var scripts []script
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for number := 1; lines.Scan(); number++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var head struct{ Script, Home string }
		one := step{line: number, text: fmt.Sprintf("%s:%d: %.300s", path, number, lines.Text())}
		if err := errors.Join(json.Unmarshal(lines.Bytes(), &head), json.Unmarshal(lines.Bytes(), &one)); err != nil {
			t.Fatalf("%s: %v", one.text, err)
		}
		switch {
		case head.Script != "":
			if head.Home == "" {
				head.Home = "both"
			}
			scripts = append(scripts, script{path, head.Script, head.Home, nil})
		case len(scripts) == 0 || one.Op == "" || (one.Expect == nil) == (one.Error == nil):
			t.Fatalf("%s: neither a script nor a step in one", one.text)
		default:
			last := &scripts[len(scripts)-1]
			last.steps = append(last.steps, one)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return scripts
}

// Gives how many steps it did.
func runScript(t *testing.T, one script, home string, left map[string]int) (done int) {
	directory := ""
	if home == "directory" {
		directory = filepath.Join(t.TempDir(), "store")
	}
	r := newRunner(t, directory)
	for _, s := range one.steps {
		if reason := exceptionOf(s); reason != "" {
			left[reason]++
			continue
		}
		answer, err := r.execute(s)
		done++
		if s.Error != nil {
			if why := errorMismatch(s.Error, err); why != "" {
				t.Fatalf("%s\n%s: %v", s.text, why, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s\n%v", s.text, err)
		}
		if why := mismatch(parse(s.Expect), answer, "$", false); why != "" {
			t.Fatalf("%s\n%s", s.text, why)
		}
	}
	return done
}

func exceptionOf(s step) string {
	for reason, is := range exceptions {
		if is(s) {
			return reason
		}
	}
	return ""
}

// JSON with integers apart from floats.
func parse(raw json.RawMessage) any {
	var wrapped pigment.Metadata
	if err := json.Unmarshal([]byte(`{"value":`+string(raw)+`}`), &wrapped); err != nil {
		panic(fmt.Sprintf("%v: %s", err, raw))
	}
	return wrapped["value"]
}

func TestComparisonTellsMetadataNumbersApartAndToleratesRoundingElsewhere(t *testing.T) {
	for _, c := range []struct {
		expected, actual string
		same             bool
	}{
		{`{"distances":[0.1]}`, `{"distances":[0.100000001]}`, true},
		{`{"distances":[0.1]}`, `{"distances":[0.2]}`, false},
		{`{"metadatas":[{"a":1}]}`, `{"metadatas":[{"a":1.0}]}`, false},
		{`{"metadatas":[{"a":1}]}`, `{"metadatas":[{"a":1,"b":2}]}`, false},
		{`{"uris":{"$absent":true}}`, `{"uris":null}`, false},
		{`["a"]`, `["a","b"]`, false},
		{`{"a":1}`, `{}`, false},
		{`{"a":{"$any":true}}`, `{"a":[1]}`, true},
		{`{"a":1,"b":[true,null]}`, `{"b":[true,null],"a":1,"c":2}`, true},
	} {
		if why := mismatch(parse([]byte(c.expected)), parse([]byte(c.actual)), "$", false); (why == "") != c.same {
			t.Errorf("%s and %s: %q", c.expected, c.actual, why)
		}
	}
	wrong := &pigment.Error{Code: pigment.CodeNotFound, Detail: pigment.DetailName, Row: 3, Message: "no such thing"}
	for expected, same := range map[string]bool{
		`{"code":"NOT_FOUND"}`: true, `{"code":"INTERNAL"}`: false, `{"code":"NOT_FOUND","detail":"NAME","row":3}`: true,
		`{"code":"NOT_FOUND","detail":"LIMIT"}`: false, `{"code":"NOT_FOUND","row":2}`: false,
		`{"code":"NOT_FOUND","message":["such","thing"]}`: true, `{"code":"NOT_FOUND","message":["thong"]}`: false,
	} {
		if why := errorMismatch([]byte(expected), wrong); (why == "") != same {
			t.Errorf("%s: %q", expected, why)
		}
	}
	if errorMismatch([]byte(`{"code":"NOT_FOUND"}`), nil) == "" {
		t.Error("a step that succeeds is taken for one that failed")
	}
}
