package definition

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAnEntrySaysTheSame: what is printed can be applied, and is what it was printed from.
func TestAnEntrySaysTheSame(t *testing.T) {
	t.Parallel()
	f := read(t, examples)
	text := func(written []byte) string {
		b, err := Entry(written)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for i := range f.audiences {
		written := f.audiences[i].JSON()
		if back := read(t, "audiences:\n"+text(written)); len(back.audiences) != 1 || string(back.audiences[0].JSON()) != string(written) {
			t.Errorf("%s\nsays %v, want %s", text(written), back.lines(), written)
		}
	}
	for i := range f.traits {
		written := f.traits[i].JSON()
		if back := read(t, "traits:\n"+text(written)); len(back.traits) != 1 || string(back.traits[0].JSON()) != string(written) {
			t.Errorf("%s\nsays %v, want %s", text(written), back.lines(), written)
		}
	}
}

// TestAnEntryIsForPeople: one condition a line, in the order in which one says things, without
// defaults.
func TestAnEntryIsForPeople(t *testing.T) {
	t.Parallel()
	f := read(t, `audiences:
- {id: a, name: A, stay: 1d, when: {all: [{did: E, take: sum, of: total, is: {gte: 500}, within: 90d}, {not: {any: [{trait: plan, is: "7"}, {audience: b}]}}]}}
- {id: b, when: {did: "no: really", where: {x: "true"}, times: 0}}
traits: [{id: c, take: unique, of: x, did: {page: "*"}, every: 1h}]
`)
	var got strings.Builder
	for _, written := range [][]byte{f.audiences[0].JSON(), f.audiences[1].JSON(), f.traits[0].JSON()} {
		text, err := Entry(written)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(text)
	}
	const want = `- id: a
  name: A
  when:
    all:
      - {did: E, take: sum, of: total, is: {gte: 500}, within: 90d}
      - not:
          any:
            - {trait: plan, is: {eq: "7"}}
            - {audience: b}
  stay: 1d
- id: b
  when: {did: 'no: really', where: {x: {eq: "true"}}, times: {eq: 0}}
- id: c
  take: unique
  of: x
  did: {page: '*'}
  every: 1h
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := Entry([]byte("[1]")); err == nil {
		t.Error("a list is a definition")
	}
}
