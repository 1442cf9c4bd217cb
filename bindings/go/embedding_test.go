// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pigment-db/pigment/bindings/go"
)

// The length of a text, and 1.
func lengths(_ context.Context, _ pigment.Purpose, texts []string) ([][]float32, error) {
	return each(texts, func(text string) []float32 { return []float32{float32(len(text)), 1} }), nil
}

func withFunction(t testing.TB, embed func(context.Context, pigment.Purpose, []string) ([][]float32, error)) *pigment.Collection {
	t.Helper()
	return create(t, openMemory(t), "docs", &pigment.CollectionOptions{
		EmbeddingFunction: &pigment.EmbeddingFunction{Name: "test", Embed: embed},
	})
}

var oneDocument = pigment.Records{IDs: []string{"a"}, Documents: []string{"text"}}

func TestEmbeddingGetsTextsPurposeAndContext(t *testing.T) {
	type key struct{}
	var seen []string
	docs := withFunction(t, func(ctx context.Context, purpose pigment.Purpose, texts []string) ([][]float32, error) {
		seen = append(seen, fmt.Sprintf("%v %d %q", ctx.Value(key{}), purpose, texts))
		return lengths(ctx, purpose, texts)
	})
	ctx := context.WithValue(t.Context(), key{}, "mine")
	if _, err := docs.Add(ctx, pigment.Records{IDs: []string{"a", "b", "c"}, Documents: []string{"four", "", "nul\x00 and \xff"}}); err != nil {
		t.Fatal(err)
	}
	result, err := docs.Query(ctx, pigment.Query{Texts: []string{"five5"}, NResults: 1, Include: pigment.IncludeEmbeddings})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(result.IDs, []string{"a"}) || !slices.Equal(result.Embeddings, []float32{4, 1}) {
		t.Errorf("%+v", result)
	}
	if wanted := []string{`mine 0 ["four" "" "nul\x00 and \xff"]`, `mine 1 ["five5"]`}; !slices.Equal(seen, wanted) {
		t.Errorf("%q", seen)
	}
}

func TestEmbeddingErrorsAreFoundInTheErrorOfTheCall(t *testing.T) {
	asleep := errors.New("the model is asleep")
	for _, c := range []struct {
		failure error
		code    pigment.Code
		is      []error
	}{
		{asleep, pigment.CodeUnknown, []error{asleep, pigment.ErrUnknown}},
		{fmt.Errorf("deep: %w", asleep), pigment.CodeUnknown, []error{asleep}},
		{&pigment.Error{Code: pigment.CodeUnavailable, Message: "not there"}, pigment.CodeUnavailable, []error{pigment.ErrUnavailable}},
		{&pigment.Error{Message: "no code"}, pigment.CodeUnknown, nil},
		{context.DeadlineExceeded, pigment.CodeDeadlineExceeded, []error{context.DeadlineExceeded}},
		{errors.New(""), pigment.CodeUnknown, nil},
		{errors.New("bytes \xff\x00 of any kind"), pigment.CodeUnknown, nil},
	} {
		docs := withFunction(t, func(context.Context, pigment.Purpose, []string) ([][]float32, error) { return nil, c.failure })
		_, err := docs.Add(t.Context(), oneDocument)
		var e *pigment.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Detail != pigment.DetailEmbeddingFunction || !errors.Is(err, c.failure) {
			t.Errorf("%v: %v", c.failure, err)
		}
		for _, is := range c.is {
			if !errors.Is(err, is) {
				t.Errorf("%v is not %v", err, is)
			}
		}
		if count, err := docs.Count(t.Context()); count != 0 || err != nil {
			t.Errorf("%d records, %v", count, err)
		}
	}
}

func TestEmbeddingPanicsAreErrors(t *testing.T) {
	cause := errors.New("cause")
	for name, f := range map[string]func(){
		"text": func() { panic("oh no") }, "error": func() { panic(cause) }, "bug": func() { _ = []int{}[len("x")] }, "goexit": runtime.Goexit,
	} {
		docs := withFunction(t, func(context.Context, pigment.Purpose, []string) ([][]float32, error) {
			f()
			return nil, nil
		})
		for _, err := range []error{
			second(docs.Add(t.Context(), oneDocument)),
			second(docs.Query(t.Context(), pigment.Query{Texts: []string{"x"}})),
		} {
			var p *pigment.PanicError
			if !errors.As(err, &p) || !errors.Is(err, pigment.ErrEmbeddingFunction) || !strings.Contains(string(p.Stack), "embedding_test.go") {
				t.Errorf("%s: %v", name, err)
			}
			if (name == "error") != errors.Is(err, cause) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestEmbeddingAnswersThatAreWrong(t *testing.T) {
	for name, answer := range map[string][][]float32{
		"none": nil, "too few": {}, "too many": {{1}, {2}}, "empty": {{}}, "nil": {nil}, "ragged": {{1}, {1, 2}},
	} {
		docs := withFunction(t, func(context.Context, pigment.Purpose, []string) ([][]float32, error) { return answer, nil })
		if _, err := docs.Add(t.Context(), oneDocument); !errors.Is(err, pigment.ErrEmbeddingFunction) || !isInvalid(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEmbeddingFunctionsThatCannotBe(t *testing.T) {
	client := openMemory(t)
	for name, function := range map[string]*pigment.EmbeddingFunction{
		"no Embed":   {Name: "x"},
		"bad config": {Name: "x", Embed: lengths, Config: []byte("[1]")},
		"bad space":  {Name: "x", Embed: lengths, Space: "hyperbolic"},
		"dimension":  pigment.Lexical(-1),
	} {
		if c, err := client.CreateCollection(t.Context(), "abc", &pigment.CollectionOptions{EmbeddingFunction: function}); c != nil || !isInvalid(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	long := &pigment.CollectionOptions{EmbeddingFunction: pigment.Lexical(1 << 40)}
	if c, err := client.CreateCollection(t.Context(), "abc", long); c != nil || !errors.Is(err, pigment.ErrResourceExhausted) {
		t.Errorf("dimensions: %v", err)
	}
	create(t, client, "abc", &pigment.CollectionOptions{EmbeddingFunction: &pigment.EmbeddingFunction{Name: "mine", Embed: lengths}})
	other := &pigment.GetCollectionOptions{EmbeddingFunction: &pigment.EmbeddingFunction{Name: "yours", Embed: lengths}}
	if _, err := client.GetCollection(t.Context(), "abc", other); !errors.Is(err, pigment.ErrEmbeddingFunction) {
		t.Errorf("%v", err)
	}
	plain, err := client.GetCollection(t.Context(), "abc", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plain.Add(t.Context(), oneDocument); !errors.Is(err, pigment.ErrNoEmbeddingFunction) {
		t.Errorf("%v", err)
	}
}

func TestEmbeddingCanBeCancelled(t *testing.T) {
	docs := withFunction(t, func(ctx context.Context, _ pigment.Purpose, _ []string) ([][]float32, error) {
		<-ctx.Done()
		return nil, fmt.Errorf("stopped: %w", ctx.Err())
	})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := docs.Add(ctx, oneDocument); !isCancelled(err) {
		t.Errorf("%v", err)
	}
	late, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	if _, err := docs.Query(late, pigment.Query{Texts: []string{"x"}}); !isLate(err) {
		t.Errorf("%v", err)
	}
}

// A function may use another collection, with a function of its own, and even close the handle that it serves.
func TestEmbeddingWithinEmbedding(t *testing.T) {
	client := openMemory(t)
	inner := create(t, client, "inner", &pigment.CollectionOptions{EmbeddingFunction: &pigment.EmbeddingFunction{Name: "in", Embed: lengths}})
	var outer *pigment.Collection
	outer = create(t, client, "outer", &pigment.CollectionOptions{EmbeddingFunction: &pigment.EmbeddingFunction{
		Name: "out", Embed: func(ctx context.Context, purpose pigment.Purpose, texts []string) ([][]float32, error) {
			if _, err := inner.Upsert(ctx, pigment.Records{IDs: texts, Documents: texts}); err != nil {
				return nil, err
			}
			if slices.Contains(texts, "close") {
				outer.Close()
			}
			result, err := inner.Get(ctx, pigment.Get{IDs: texts, Include: pigment.IncludeEmbeddings})
			if err != nil {
				return nil, err
			}
			return each(slices.Collect(result.Rows()), func(row pigment.Row) []float32 { return row.Embedding }), nil
		},
	}})
	if _, err := outer.Add(t.Context(), pigment.Records{IDs: []string{"a"}, Documents: []string{"abc"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := outer.Add(t.Context(), pigment.Records{IDs: []string{"b"}, Documents: []string{"close"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := outer.Count(t.Context()); !isClosed(err) {
		t.Errorf("%v", err)
	}
}

// What a function holds is let go with the last handle, whoever closes it.
func TestLeakNetFreesEmbeddingFunctions(t *testing.T) {
	var freed atomic.Int32
	client := openMemory(t)
	made := 0
	give := func() *pigment.EmbeddingFunction {
		made++
		held := &[1 << 10]byte{}
		runtime.AddCleanup(held, func(int) { freed.Add(1) }, 0)
		return &pigment.EmbeddingFunction{Name: "mine", Embed: func(ctx context.Context, p pigment.Purpose, texts []string) ([][]float32, error) {
			held[0]++
			return lengths(ctx, p, texts)
		}}
	}
	func() {
		docs := create(t, client, "docs", &pigment.CollectionOptions{EmbeddingFunction: give()})
		fork, err := docs.Fork(t.Context(), "fork")
		if err != nil {
			t.Fatal(err)
		}
		docs.Close()
		if _, err := fork.Add(t.Context(), oneDocument); err != nil { // the fork has it still
			t.Fatal(err)
		}
		if _, err := client.CreateCollection(t.Context(), "docs", &pigment.CollectionOptions{EmbeddingFunction: give()}); !errors.Is(err, pigment.ErrAlreadyExists) {
			t.Fatal(err)
		}
		if _, err := client.GetCollection(t.Context(), "docs", &pigment.GetCollectionOptions{EmbeddingFunction: give()}); err != nil {
			t.Fatal(err) // and forgotten
		}
	}()
	if !eventually(func() bool { runtime.GC(); return int(freed.Load()) == made }) {
		t.Errorf("%d of %d functions were freed", freed.Load(), made)
	}
}

func TestEmbeddingByManyAtOnce(t *testing.T) {
	docs := withFunction(t, func(ctx context.Context, p pigment.Purpose, texts []string) ([][]float32, error) {
		if strings.HasPrefix(texts[0], "bad") {
			return nil, errors.New(texts[0])
		}
		return lengths(ctx, p, texts)
	})
	var all sync.WaitGroup
	for worker := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range 50 {
				text := fmt.Sprintf("good %d %d", worker, i)
				if _, err := docs.Upsert(t.Context(), pigment.Records{IDs: []string{text}, Documents: []string{text}}); err != nil {
					t.Error(err)
				}
				bad := fmt.Sprintf("bad %d %d", worker, i)
				if _, err := docs.Query(t.Context(), pigment.Query{Texts: []string{bad}}); err == nil || !strings.Contains(err.Error(), bad) {
					t.Errorf("%s: %v", bad, err) // nobody else's error
				}
			}
		}()
	}
	all.Wait()
	if count, err := docs.Count(t.Context()); count != 400 || err != nil {
		t.Errorf("%d records, %v", count, err)
	}
}

func TestLexicalIsTheFunctionAndTheVectors(t *testing.T) {
	texts := []string{"How to back up a database", "", "日本語"}
	flat, err := pigment.EmbedLexical(texts, 64)
	if err != nil || len(flat) != 3*64 {
		t.Fatalf("%d numbers, %v", len(flat), err)
	}
	docs := create(t, openMemory(t), "docs", &pigment.CollectionOptions{EmbeddingFunction: pigment.Lexical(64)})
	if _, err := docs.Add(t.Context(), pigment.Records{IDs: []string{"a", "b", "c"}, Documents: texts}); err != nil {
		t.Fatal(err)
	}
	result, err := docs.Get(t.Context(), pigment.Get{Include: pigment.IncludeEmbeddings})
	if err != nil || !slices.Equal(result.Embeddings, flat) {
		t.Errorf("%v", err)
	}
	info, err := docs.Describe(t.Context())
	if err != nil || info.EmbeddingFunction == nil || info.EmbeddingFunction.Name != pigment.Lexical(0).Name {
		t.Errorf("%+v, %v", info, err)
	}
	for _, dimension := range []int{0, -1, 1 << 19, 1 << 60} {
		if _, err := pigment.EmbedLexical(texts, dimension); !isInvalid(err) {
			t.Errorf("dimension %d: %v", dimension, err)
		}
	}
	if none, err := pigment.EmbedLexical(nil, 8); len(none) != 0 || err != nil {
		t.Errorf("%v, %v", none, err)
	}
}
