package mark

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMarkSurvivesACommit(t *testing.T) {
	t.Parallel()
	newest := time.UnixMilli(1_700_000_000_123)
	for metadata, want := range map[string]time.Time{
		Mark{Next: 7, Newest: newest}.Metadata():                newest,
		Mark{Next: 7}.Metadata():                                {},
		Mark{Newest: newest, Of: ""}.Metadata() + " later=word": newest,
		"":                 {},
		"anabranch-1b2c":   {}, // the member's id, from earlier releases
		newestKey:          {},
		newestKey + "soon": {},
		Mark{Newest: time.UnixMilli(-1)}.Metadata(): time.UnixMilli(-1),
	} {
		if diff := cmp.Diff(Mark{Next: 7, Newest: want}, Read(7, metadata)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", metadata, diff)
		}
	}
}

func TestMarkSaysOfWhichTopicItIs(t *testing.T) {
	t.Parallel()
	for _, want := range []Mark{{Next: 7, Newest: time.UnixMilli(5), Of: "aGVsbG8td29ybGQtMTIzNA=="}, {Next: 7, Of: "id"}} {
		if diff := cmp.Diff(want, Read(7, want.Metadata())); diff != "" {
			t.Errorf("%q (-want +got):\n%s", want.Metadata(), diff)
		}
	}
}
