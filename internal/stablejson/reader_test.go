package stablejson_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/stablejson"
)

func TestReaderSplitsBatch(t *testing.T) {
	const text = ` { "sentAt" : "now" , "batch" : [ {"b":1,"0":2} , {"c":[1.0]} ] , "x":{} } `
	var (
		r      stablejson.Reader
		keys   []string
		events []string
		sizes  []int
	)
	r.Reset([]byte(text))
	err := r.Members(func(key []byte) error {
		keys = append(keys, string(key))
		if string(key) != "batch" {
			return r.Skip()
		}
		return r.Elements(func() error {
			start := r.Offset()
			event, err := r.Append(nil)
			events = append(events, string(event))
			sizes = append(sizes, r.Offset()-start)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.End(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"sentAt", "batch", "x"}, keys); diff != "" {
		t.Error("keys", diff)
	}
	if diff := cmp.Diff([]string{`{"0":2,"b":1}`, `{"c":[1]}`}, events); diff != "" {
		t.Error("events", diff)
	}
	if diff := cmp.Diff([]int{len(`{"b":1,"0":2}`), len(`{"c":[1.0]}`)}, sizes); diff != "" {
		t.Error("sizes as received", diff)
	}
}

func TestReaderMembersAsTheyStand(t *testing.T) {
	var r stablejson.Reader
	r.Reset([]byte(`{"b":1,"1":2,"b":3,"":4}`))
	var got []string
	err := r.Members(func(key []byte) error {
		value, err := r.Append(nil)
		got = append(got, string(key)+"="+string(value))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b=1", "1=2", "b=3", "=4"}, got); diff != "" {
		t.Error(diff)
	}
}

// A key has to stay what it is while its value is read, though keys inside the
// value are decoded into the same memory.
func TestReaderKeyOutlivesKeysInside(t *testing.T) {
	var r stablejson.Reader
	r.Reset([]byte(`{"out\u0065r\t\"\u0001":{"\u0069nner":{"a\/":"` + strings.Repeat("long", 100) + `"}}}`))
	err := r.Members(func(outer []byte) error {
		return r.Members(func(inner []byte) error {
			if err := r.Members(func([]byte) error { return r.Skip() }); err != nil {
				return err
			}
			if string(outer) != "outer\t\"\x01" || string(inner) != "inner" {
				t.Errorf("got %q and %q", outer, inner)
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestReaderKind(t *testing.T) {
	for text, want := range map[string]stablejson.Kind{
		"":         stablejson.KindInvalid,
		" ":        stablejson.KindInvalid,
		"]":        stablejson.KindInvalid,
		"\x00":     stablejson.KindInvalid,
		"\n null":  stablejson.KindNull,
		"\ttrue":   stablejson.KindBool,
		"\rfalse":  stablejson.KindBool,
		" -1":      stablejson.KindNumber,
		"0":        stablejson.KindNumber,
		`"a"`:      stablejson.KindString,
		" [":       stablejson.KindArray,
		`{"a":1} `: stablejson.KindObject,
	} {
		var r stablejson.Reader
		r.Reset([]byte(text))
		if got := r.Kind(); got != want {
			t.Errorf("Kind of %q: got %d, want %d", text, got, want)
		}
		if stable := strings.TrimSpace(text); stablejson.KindOf([]byte(stable)) != want {
			t.Errorf("KindOf(%q): got %d, want %d", stable, stablejson.KindOf([]byte(stable)), want)
		}
	}
}

func TestReaderWantsTheKindAskedFor(t *testing.T) {
	visit := func() error { return nil }
	for want, read := range map[string]func(r *stablejson.Reader) error{
		"offset 1: expected an object": func(r *stablejson.Reader) error {
			return r.Members(func([]byte) error { return visit() })
		},
		"offset 1: expected an array": func(r *stablejson.Reader) error { return r.Elements(visit) },
	} {
		var r stablejson.Reader
		r.Reset([]byte(" 1"))
		if err := read(&r); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	var (
		r stablejson.Reader
		o stablejson.Object
	)
	r.Reset([]byte(`[]`))
	if err := r.Object(&o); err == nil || err.Error() != "offset 0: expected an object" {
		t.Errorf("Object: got %v", err)
	}
}

func TestReaderReturnsErrorsOfVisit(t *testing.T) {
	refused := errors.New("refused")
	var r stablejson.Reader
	r.Reset([]byte(`{"a":1,"b":2}`))
	calls := 0
	err := r.Members(func([]byte) error { calls++; return refused })
	if !errors.Is(err, refused) || calls != 1 {
		t.Errorf("Members: got %v after %d calls", err, calls)
	}
	r.Reset([]byte(`[1,2]`))
	calls = 0
	err = r.Elements(func() error { calls++; return refused })
	if !errors.Is(err, refused) || calls != 1 {
		t.Errorf("Elements: got %v after %d calls", err, calls)
	}
}

func TestReaderValidatesWhatItPassesOver(t *testing.T) {
	for _, text := range []string{
		`{"a":01}`, `{"a":"\x"}`, `{"a":1,}`, `{"a":1`, `{"a":[1,]}`, `{"a"}`, `{a:1}`, `{"a":1}]`, `{"\ud8":1}`,
	} {
		var r stablejson.Reader
		r.Reset([]byte(text))
		err := r.Members(func([]byte) error { return r.Skip() })
		if err == nil {
			err = r.End()
		}
		if _, ok := errors.AsType[*stablejson.SyntaxError](err); !ok {
			t.Errorf("%s: got %v, want a SyntaxError", text, err)
		}
	}
}

func TestReaderCountsDepthAcrossCalls(t *testing.T) {
	var r stablejson.Reader
	inner := stablejson.MaxDepth - 1
	for depth, want := range map[int]error{inner: nil, inner + 1: stablejson.ErrTooDeep} {
		r.Reset([]byte("[" + strings.Repeat("[", depth) + strings.Repeat("]", depth) + "]"))
		if err := r.Elements(r.Skip); !errors.Is(err, want) {
			t.Errorf("%d levels inside Elements: got %v, want %v", depth, err, want)
		}
	}
}

func TestReaderIsGoodAgainAfterReset(t *testing.T) {
	var (
		r stablejson.Reader
		o stablejson.Object
	)
	for _, broken := range []string{`{"a":{"b":[{"c":1,"d":`, `{"a\n":{"b`, "[[[["} {
		r.Reset([]byte(broken))
		if err := r.Skip(); err == nil {
			t.Fatalf("Skip(%s): no error", broken)
		}
		r.Reset([]byte(broken))
		if err := r.Object(&o); err == nil || o.Len() != 0 {
			t.Fatalf("Object(%s): got %v and %d members", broken, err, o.Len())
		}
		r.Reset([]byte(`{"b":1,"0":{"a":1,"a":2}}`))
		got, err := r.Append(nil)
		if want := `{"0":{"a":2},"b":1}`; err != nil || string(got) != want {
			t.Errorf("after %s: got %s, %v, want %s", broken, got, err, want)
		}
	}
}

func TestReaderZeroValueReadsNothing(t *testing.T) {
	var r stablejson.Reader
	if kind := r.Kind(); kind != stablejson.KindInvalid {
		t.Errorf("Kind: got %d", kind)
	}
	if err := r.End(); err != nil {
		t.Errorf("End: %v", err)
	}
	if err := r.Skip(); err == nil {
		t.Error("Skip: no error")
	}
}

func TestReaderAppendLeavesPrefixOnError(t *testing.T) {
	var r stablejson.Reader
	r.Reset([]byte(`{"a":[1,2,x]}`))
	prefix := []byte("prefix")
	got, err := r.Append(slices.Clone(prefix))
	if err == nil || string(got) != "prefix" {
		t.Errorf("got %q, %v", got, err)
	}
}
