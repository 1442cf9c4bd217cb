// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pigment-db/pigment/bindings/go"
)

func isCancelled(err error) bool {
	var e *pigment.Error
	return errors.Is(err, context.Canceled) && errors.Is(err, pigment.ErrCancelled) && errors.As(err, &e) && e.Code == pigment.CodeCancelled
}

func isLate(err error) bool {
	var e *pigment.Error
	return errors.Is(err, context.DeadlineExceeded) && errors.Is(err, pigment.ErrDeadlineExceeded) && errors.As(err, &e) &&
		e.Code == pigment.CodeDeadlineExceeded
}

func TestContextThatIsOverEndsEveryCall(t *testing.T) {
	client, docs := openSample(t)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	everyCall(t, client, docs, cancelled, isCancelled)
	late, stop := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer stop()
	everyCall(t, client, docs, late, isLate)
	if count, err := docs.Count(t.Context()); count != 4 || err != nil {
		t.Errorf("%d records, %v", count, err)
	}
}

func TestContextGivesItsCause(t *testing.T) {
	_, docs := openSample(t)
	why := errors.New("the user went away")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := second(docs.Count(ctx)); !isCancelled(err) || !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

// A query that takes seconds when nobody ends it.
func longQuery(t *testing.T) (*pigment.Collection, pigment.Query) {
	const dimension, rows = 256, 20000
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]float32, rows*dimension)
	for i := range values {
		values[i] = random.Float32()
	}
	ids := make([]string, rows)
	for i := range ids {
		ids[i] = "r" + string(rune('a'+i%26)) + time.Duration(i).String()
	}
	docs := create(t, openMemory(t), "long", nil)
	if _, err := docs.Add(t.Context(), pigment.Records{IDs: ids, Embeddings: pigment.Flat(values, dimension)}); err != nil {
		t.Fatal(err)
	}
	return docs, pigment.Query{Embeddings: pigment.Flat(values[:10000*dimension], dimension), Recall: 1, Threads: 1, Include: pigment.IncludeNothing}
}

func TestContextEndsACallInTheMiddle(t *testing.T) {
	docs, query := longQuery(t)
	for name, c := range map[string]struct {
		make func() (context.Context, context.CancelFunc)
		is   func(error) bool
	}{
		"cancel": {func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(30*time.Millisecond, cancel)
			return ctx, cancel
		}, isCancelled},
		"deadline": {func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), 30*time.Millisecond)
		}, isLate},
		"a context of somebody else": {func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(30*time.Millisecond, cancel)
			return foreignContext{ctx}, cancel
		}, isCancelled},
		"a deadline without a channel": {func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			return silentContext{ctx}, cancel
		}, isLate},
	} {
		ctx, cancel := c.make()
		begin := time.Now()
		result, err := docs.Query(ctx, query)
		cancel()
		if !c.is(err) || result != nil {
			t.Errorf("%s: %v after %v", name, err, time.Since(begin))
		}
	}
	if _, err := docs.Count(t.Context()); err != nil { // the tokens of those calls are nobody else's
		t.Error(err)
	}
}

type foreignContext struct{ context.Context }

// A context that tells nobody when it is over.
type silentContext struct{ context.Context }

func (silentContext) Done() <-chan struct{} { return nil }
func (silentContext) Err() error            { return nil }

// Tokens are used again; one that was set must not be.
func TestContextThatWasCancelledEndsNoOtherCall(t *testing.T) {
	_, docs := openSample(t)
	for range 2000 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if err := second(docs.Count(ctx)); err != nil && !isCancelled(err) {
			t.Fatal(err)
		}
		other, stop := context.WithTimeout(t.Context(), time.Hour)
		if err := second(docs.Count(other)); err != nil {
			t.Fatal(err)
		}
		stop()
	}
}

func TestContextMinPosition(t *testing.T) {
	client, docs := openSample(t)
	position, err := client.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if result, err := docs.Get(t.Context(), pigment.Get{MinPosition: position}); err != nil || result.Position < position {
		t.Errorf("%v", err)
	}
	query := pigment.Query{Embeddings: pigment.Flat([]float32{1, 2}, 2), MinPosition: position + 1}
	for name, err := range map[string]error{
		"get":    second(docs.Get(t.Context(), pigment.Get{MinPosition: position + 1})),
		"query":  second(docs.Query(t.Context(), query)),
		"count":  second(docs.CountWhere(t.Context(), pigment.CountRequest{MinPosition: position + 1})),
		"facets": second(docs.Facets(t.Context(), pigment.FacetsRequest{Keys: []string{"a"}, MinPosition: position + 1})),
		"text":   second(docs.SearchText(t.Context(), pigment.TextSearch{Queries: []string{"fox"}, MinPosition: position + 1})),
	} {
		if !errors.Is(err, pigment.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
