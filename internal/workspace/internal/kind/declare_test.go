package kind

import (
	"reflect"
	"testing"
	"time"
)

// TestDeclarationsThatMakeNoSense end the program, in whatever test comes first: a tag
// that is misspelt would otherwise say nothing.
func TestDeclarationsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for name, declared := range map[string]any{
		"no field": struct{ A string }{},
		"no such form": struct {
			A float64 `file:"a"`
		}{},
		"no such option": struct {
			A string `file:"a,optinal"`
		}{},
		"no such rule": struct {
			A string `file:"a" rule:"uri"`
		}{},
		"half a length": struct {
			A []string `file:"a" items:"3"`
		}{},
		"a length of none": struct {
			A []string `file:"a" items:"0-0"`
		}{},
		"only with a word that there is not": struct {
			A string `file:"a" enum:"x y"`
			B string `file:"b" only:"a=z"`
		}{},
		"only with a later field": struct {
			B string `file:"b" only:"a=x"`
			A string `file:"a" enum:"x y"`
		}{},
		"half a bound": struct {
			A int `file:"a" min:"1"`
		}{},
		"no bound": struct {
			A int `file:"a" min:"1" max:"1h"`
		}{},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: declared", name)
				}
			}()
			Of(reflect.TypeOf(declared))
		}()
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	for want, declared := range map[string]any{
		"": struct {
			A string `file:"a"`
		}{},
		"1 to 256 bytes": struct {
			A string `file:"a" rule:"name"`
		}{},
		"one of x, y": struct {
			A string `file:"a" enum:"x y"`
		}{},
		"the id of one of the others": struct {
			A []string `file:"a" ref:"others"`
		}{},
		"at most 3 a": struct {
			A []string `file:"a" items:"0-3"`
		}{},
		"-1 to 7": struct {
			A int `file:"a" min:"-1" max:"7"`
		}{},
		"1m to 24h": struct {
			A time.Duration `file:"a" min:"1m" max:"24h"`
		}{},
	} {
		if got := Of(reflect.TypeOf(declared)).Fields[0].Bounds(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
