package command

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// manyDestinations writes a workspace file with n destinations.
func manyDestinations(t *testing.T, n int) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("sources: []\ndestinations:\n")
	for i := range n {
		fmt.Fprintf(&text, "  - {id: d%d, type: webhooks, name: D, sources: [], endpoints: [{url: \"https://example.com\"}]}\n", i)
	}
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestApplyOfManyDestinations to a broker that takes six seconds for each request to
// create topics, in virtual time: it may take as long as it gets on, gives up when the
// broker hangs, says how far it is, and carries on there.
func TestApplyOfManyDestinations(t *testing.T) {
	file := manyDestinations(t, 250)
	synctest.Test(t, func(t *testing.T) {
		cluster := testkit.Virtual(t)
		const slow = 6 * time.Second
		var well atomic.Bool
		created := 0
		cluster.Fake.ControlKey(int16(kmsg.CreateTopics), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
			cluster.Fake.KeepControl()
			topics := kreq.(*kmsg.CreateTopicsRequest).Topics
			switch _, deliver := schemas.DestinationOf(topics[0].Topic); {
			case !deliver || well.Load():
			case created == 200:
				virtual.Sleep(time.Minute) // it hangs
			default:
				virtual.Sleep(slow)
				created += len(topics)
			}
			return nil, nil, false
		})
		proc := settings.Process{Config: settings.Config{Topics: policy.Config{Partitions: 1, Replication: -1}}}
		proc.Config.Kafka.Brokers = cluster.Addrs // one that is not embedded
		run := func() (string, error) {
			var out bytes.Buffer
			proc.Out = &out
			c := &connection{
				opts: cluster.Options(), topics: topics.New(cluster.Client(t), proc.Config.Topics),
				await: func(context.Context) error { return nil },
			}
			err := c.apply(t.Context(), proc, file, Applying{})
			return out.String(), err
		}
		began := time.Now()
		out, err := run()
		if took := time.Since(began); took < 2*slow+commandTimeout {
			t.Errorf("gave up after %s", took)
		}
		for _, want := range []string{"no progress for 10s", "200 of 250 topics were created and nothing else was changed", "run the same command again"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the broker hangs: %v, want %q in it", err, want)
			}
		}
		if !strings.Contains(out, "created 100 of 250 topics\ncreated 200 of 250 topics\n") {
			t.Errorf("printed %s", out)
		}
		virtual.Sleep(2 * time.Minute) // until the broker hangs no longer
		well.Store(true)
		if out, err = run(); err != nil || !strings.Contains(out, "applied") {
			t.Errorf("the second run: %v, printed %s", err, out)
		}
		if state, err := wstopic.Read(t.Context(), cluster.Options()); err != nil || len(state.Snapshot.Destinations()) != 250 {
			t.Errorf("in force are %v (%v)", state.Snapshot, err)
		}
	})
}
