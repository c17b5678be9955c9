package definition

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
)

// FuzzRead reads any file. What is accepted comes back from its record, as the same bytes.
func FuzzRead(f *testing.F) {
	f.Add(examples)
	for line := range strings.Lines(examples) {
		f.Add("audiences:\n" + line)
		f.Add("traits:\n" + line)
	}
	for _, m := range mistakes {
		f.Add(m.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := readFile(text, world())
		if err != nil {
			return
		}
		for _, p := range got.found {
			if p.Want == "" || p.Path == "" || p.Value == "" {
				t.Errorf("%+v", p)
			}
		}
		if len(got.found) > 0 {
			return
		}
		for i := range got.audiences {
			comesBack(t, got.audiences[i], (*Audience).JSON, ParseAudience)
		}
		for i := range got.traits {
			comesBack(t, got.traits[i], (*Trait).JSON, ParseTrait)
		}
	})
}

// comesBack wants a definition to be the same, and of the same bytes, behind its record.
func comesBack[T any](t *testing.T, d T, write func(*T) []byte, parse func([]byte) (T, error)) {
	t.Helper()
	record := write(&d)
	back, err := parse(record)
	if diff := cmp.Diff(d, back); diff != "" || err != nil || string(write(&back)) != string(record) {
		t.Errorf("%s: %v\n%s", record, err, diff)
	}
}

// FuzzParse reads any record: what it takes is written as the same again.
func FuzzParse(f *testing.F) {
	seeds, err := readFile(examples, world())
	if err != nil {
		f.Fatal(err)
	}
	for i := range seeds.audiences {
		f.Add(seeds.audiences[i].JSON())
	}
	for i := range seeds.traits {
		f.Add(seeds.traits[i].JSON())
	}
	f.Fuzz(func(t *testing.T, record []byte) {
		if a, err := ParseAudience(record); err == nil {
			comesBack(t, a, (*Audience).JSON, ParseAudience)
		}
		if tr, err := ParseTrait(record); err == nil {
			comesBack(t, tr, (*Trait).JSON, ParseTrait)
		}
	})
}

// TestRecordsOfALaterRelease are not read by half, and are not called broken.
func TestRecordsOfALaterRelease(t *testing.T) {
	t.Parallel()
	const leaf = `{"did":"E","times":{"gte":1}}`
	for record, later := range map[string]bool{
		`{"id":"a","when":` + leaf + `,"color":"red"}`:                         true,
		`{"id":"a","when":{"did":"E","then_not":{"did":"F","within":"1d"}}}`:   true,
		`{"id":"a","when":{"did":"E","within":"7d","session":"30m"}}`:          true,
		`{"id":"a","when":{"regularly":` + leaf + `}}`:                         true,
		`{"id":"a","when":{"trait":"p","is":{"matches":"x"}}}`:                 true,
		`{"id":"a","when":{"did":{"group":"x"}}}`:                              true,
		`{"id":"a","when":{"did":"E","take":"median","of":"p","is":{"gt":1}}}`: true,
		`{"id":"a","send":"page","when":` + leaf + `}`:                         true,
		`{"id":"a","when":{"did":7}}`:                                          false,
		`{"id":"A","when":` + leaf + `}`:                                       false,
		`{"id":"a"}`:                                                           false, `[]`: false, `null`: false, `{`: false, ``: false, `{} {}`: false,
	} {
		_, err := ParseAudience([]byte(record))
		if err == nil || schemas.IsLaterVersion(err) != later {
			t.Errorf("%s: %v", record, err)
		}
	}
}
