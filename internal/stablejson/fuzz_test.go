package stablejson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// seeds are what the fuzzers start from, beside testdata/fuzz.
func seeds(f *testing.F) {
	f.Helper()
	f.Add(event(f))
	for _, text := range []string{
		`{"b":1,"1":2,"0":{"z":[],"z":{}},"b":3}`,
		`[-0,1.0,1E2,1e20,1e-7,9007199254740993,1e999,0.000001,149.95]`,
		`"\u0041\/\ud83d\ude00\ud800\u001f\"\\"`,
		"\"\xe2\x82\xff\xed\xa0\x80\u2028\"",
		" [ true , false , null ] ",
		`{"a":1,}`,
	} {
		f.Add([]byte(text))
	}
}

func FuzzAppend(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		once, err := stablejson.Append(nil, text)
		if errors.Is(err, stablejson.ErrTooDeep) {
			return
		}
		if (err == nil) != json.Valid(text) {
			t.Fatalf("got %v, json.Valid says %t", err, json.Valid(text))
		}
		if err != nil {
			return
		}
		if !json.Valid(once) {
			t.Fatalf("%q is not JSON", once)
		}
		// 1e20 is the worst: 4 bytes become 21.
		if len(once) > 6*len(text) {
			t.Fatalf("%d bytes became %d", len(text), len(once))
		}
		twice, err := stablejson.Append(nil, once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("once %q, twice %q, %v", once, twice, err)
		}
	})
}

// FuzzObject holds the ways through a text against each other.
func FuzzObject(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		want, wantErr := stablejson.Append(nil, text)
		var r stablejson.Reader
		r.Reset(text)
		isObject := r.Kind() == stablejson.KindObject

		var o stablejson.Object
		err := o.Parse(text)
		if (err == nil) != (wantErr == nil && isObject) {
			t.Fatalf("Parse: %v, Append: %v", err, wantErr)
		}
		if err != nil {
			return
		}
		if got := o.Append(nil); !bytes.Equal(got, want) {
			t.Fatalf("Object %q, Append %q", got, want)
		}

		// Built member by member, as they stand in the text, it is the same.
		var built stablejson.Object
		err = r.Members(func(key []byte) error {
			key = bytes.Clone(key)
			value, bad := r.Append(nil)
			built.Set(string(key), value)
			return bad
		})
		if err != nil || r.End() != nil {
			t.Fatalf("Members: %v, End: %v", err, r.End())
		}
		if got := built.Append(nil); !bytes.Equal(got, want) {
			t.Fatalf("built %q, Append %q", got, want)
		}

		// Each member is where it is looked for, and goes when it is deleted.
		keys := 0
		for key, value := range o.All() {
			keys++
			if got := built.Get(key); !bytes.Equal(got, value) {
				t.Fatalf("Get(%q): got %q, want %q", key, got, value)
			}
			built.Delete(key)
			if built.Get(key) != nil {
				t.Fatalf("%q is there after Delete", key)
			}
		}
		if keys != o.Len() || built.Len() != 0 {
			t.Fatalf("%d keys of %d, %d left", keys, o.Len(), built.Len())
		}
		built.Merge(&o)
		if got := built.Append(nil); !bytes.Equal(got, want) {
			t.Fatalf("merged %q, Append %q", got, want)
		}
	})
}
