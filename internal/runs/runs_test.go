package runs

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestImports: the last that an import has said of itself counts.
func TestImports(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	c.CreateTopics(t, 1, schemas.TopicImports)
	cl := c.Client(t)
	for _, value := range []string{
		`{"version":1,"file":"calls.csv","source":"web","rows":10,"accepted":9,"refused":1,"startedAt":"2026-11-21T11:00:00Z","updatedAt":"2026-11-21T11:00:01Z"}`,
		`{"version":1,"file":"calls.csv","source":"web","rows":20,"accepted":18,"refused":2,"done":true,"startedAt":"2026-11-21T11:00:00Z","updatedAt":"2026-11-21T11:00:02Z"}`,
	} {
		if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: schemas.TopicImports, Key: []byte("d1"), Value: []byte(value)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Brokers{Kafka: c.Options(), Topics: &topics.Admin{Client: cl}}.Imports(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)
	want := []status.Import{{Files: "calls.csv", Source: "web", Rows: 20, Refused: 2, Done: true, Started: begun, Heard: begun.Add(2 * time.Second)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
