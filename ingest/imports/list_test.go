package imports

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestImportsAreListed as the topic says of them last, and none on a cluster without the topic.
func TestImportsAreListed(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	cl := c.Client(t)
	if all, err := List(t.Context(), cl, c.Options()); err != nil || len(all) != 0 {
		t.Errorf("without the topic: %v, %v", all, err)
	}
	y := newYard(t, c)
	y.start(y.settings(file(t, "a.ndjson", `{"type":"track","userId":"u","event":"A"}`)))
	y.start(y.settings(file(t, "b.ndjson", `{"type":"track","userId":"u"}`)))
	all, err := List(t.Context(), cl, c.Options())
	if err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	for i, want := range []struct {
		file    string
		refused int64
	}{{"a.ndjson", 0}, {"b.ndjson", 1}} {
		if e := all[i]; !strings.HasSuffix(e.File, want.file) || !e.Done || e.Rows != 1 || e.Refused != want.refused || e.Digest == "" {
			t.Errorf("%+v, expected %+v", e, want)
		}
	}
	if err = cl.ProduceSync(t.Context(), &kgo.Record{Topic: schemas.TopicImports, Key: []byte("d"), Value: []byte(`{"version":99}`)}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if _, err = List(t.Context(), cl, c.Options()); err == nil || !strings.Contains(err.Error(), "import d") {
		t.Errorf("a record of a later release: %v", err)
	}
}
