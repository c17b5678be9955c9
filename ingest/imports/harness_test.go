package imports

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// yard is a cluster that files are imported to.
type yard struct {
	t       *testing.T
	cluster *testkit.Cluster
	terms   Terms
	out     bytes.Buffer
	err     testkit.Logs
}

func newYard(t *testing.T, cluster *testkit.Cluster) *yard {
	t.Helper()
	y := &yard{t: t, cluster: cluster}
	y.terms.Workspace = workspace.NewSnapshot(
		[]workspace.Source{{ID: "website", Enabled: true, WriteKeyHash: workspace.HashWriteKey("w")}},
		[]workspace.Destination{{ID: "crm", Type: workspace.TypeWebhooks, Enabled: true, Sources: []string{"website"}}, {ID: "mail", Type: workspace.TypeWebhooks, Enabled: true}},
	)
	return y
}

func (y *yard) settings(file string) Settings {
	config := policy.Config{Partitions: 3, DeliverPartitions: 3, Replication: -1, RawRetention: 48 * time.Hour}
	return Settings{
		Input: Input{Name: file}, Kafka: y.cluster.Options(), Topics: topics.New(y.cluster.Client(y.t), config),
		Load: func(context.Context) (Terms, error) { return y.terms, nil },
		Out:  &y.out, Err: &y.err, Rate: MaxRate,
	}
}

// start imports to the end and returns what was printed.
func (y *yard) start(set Settings) string {
	y.t.Helper()
	y.out.Reset()
	if err := Start(y.t.Context(), set); err != nil {
		y.t.Fatalf("import: %v\n%s", err, y.out.String())
	}
	return y.out.String()
}

// file writes a file of the test.
func file(t *testing.T, name, text string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// numbered are n rows, of which each seventh is refused.
func numbered(n int) (text string, good int) {
	var b bytes.Buffer
	for i := range n {
		event := `"A"`
		if i%7 == 3 {
			event = `7`
		} else {
			good++
		}
		fmt.Fprintf(&b, `{"type":"track","userId":"u%d","event":%s,"timestamp":"2019-01-01T00:00:00Z","properties":{"n":%d}}`+"\n", i%11, event, i)
	}
	return b.String(), good
}

// headersOf reads the headers of a record.
func headersOf(t *testing.T, r *kgo.Record) schemas.Headers {
	t.Helper()
	h, err := kafka.HeadersOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// hurried is a run of many small batches that waits for nobody.
func (y *yard) hurried(ctx context.Context, set Settings) *run {
	y.t.Helper()
	set.Rate = 50 * batchesPerSecond
	r, err := prepare(ctx, set)
	if err != nil {
		y.t.Fatal(err)
	}
	r.pace = waiting.NewPace(int(time.Second))
	return r
}
