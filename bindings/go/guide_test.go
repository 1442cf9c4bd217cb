// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/go.md is true: its program, and its fragments one after another, print what it says. They are built as a user's module is.
func TestGuide(t *testing.T) {
	page, err := os.ReadFile("../../docs/go.md")
	if err != nil {
		t.Fatal(err)
	}
	var programs, fragments, outputs []string
	for _, block := range regexp.MustCompile("(?s)```(go|text) (\\w+)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		switch block[2] {
		case "program":
			programs = append(programs, block[3])
		case "fragment":
			fragments = append(fragments, block[3])
		case "output":
			outputs = append(outputs, block[3])
		default:
			t.Fatalf("a block of kind %s", block[2])
		}
	}
	if len(programs) != 1 || len(fragments) < 5 || len(outputs) != 2 {
		t.Fatalf("%d programs, %d fragments, %d outputs", len(programs), len(fragments), len(outputs))
	}
	if body := programs[0][strings.Index(programs[0], "func main"):strings.Index(programs[0], "func must")]; statements(body) > 15 {
		t.Errorf("the program has %d statements", statements(body))
	}
	if got := runProgram(t, programs[0]); got != outputs[0] {
		t.Errorf("the program prints\n%s", got)
	}
	if got := runProgram(t, around(programs[0], fragments)); got != outputs[1] {
		t.Errorf("the fragments print\n%s", got)
	}
}

// Lines that begin at the first level of a function.
func statements(body string) int {
	return len(regexp.MustCompile(`(?m)^\t[^\t}]`).FindAllString(body, -1))
}

// The program, with the fragments in place of what it does with its answer.
func around(program string, fragments []string) string {
	before, _, _ := strings.Cut(program, "\tresult, err :=")
	_, after, _ := strings.Cut(program, "\nfunc must")
	before = strings.Replace(before, "\"context\"\n", "\"context\"\n\t\"encoding/json\"\n\t\"errors\"\n\t\"time\"\n", 1)
	text := before + "\tvectors, err := pigment.EmbedLexical([]string{\"bread\", \"database\"}, 384)\n\tmust(err)\n"
	for _, fragment := range fragments {
		text += "\tfunc() {\n" + fragment + "\t}()\n"
	}
	return text + "}\n\nfunc must" + after
}

func runProgram(t *testing.T, source string) string {
	t.Helper()
	folder := t.TempDir()
	module, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	const path = "github.com/pigment-db/pigment/bindings/go"
	for name, text := range map[string]string{
		"main.go": source, "go.mod": "module guide\n\ngo 1.24\n\nrequire " + path + " v0.0.0\n\nreplace " + path + " => " + module + "\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	goProgram := os.Getenv("PIGMENT_GO")
	if goProgram == "" {
		goProgram = "go"
	}
	for _, arguments := range [][]string{{"vet", "."}, {"build", "-o", "guide", "."}} {
		command := exec.Command(goProgram, arguments...)
		command.Dir = folder
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s\n%s", arguments, err, output, source)
		}
	}
	command := exec.Command(filepath.Join(folder, "guide"))
	command.Dir = folder
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, output, source)
	}
	return string(output)
}
