package topics

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// watch is a watcher that runs in virtual time.
type watch struct {
	*Watcher

	t        *testing.T
	log      testkit.Logs
	registry *prometheus.Registry
	client   *kgo.Client
	cluster  *testkit.Cluster
}

// watched runs one for the body of a test and stops it.
func watched(t *testing.T, config policy.Config, body func(*watch)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &watch{t: t, registry: prometheus.NewRegistry(), cluster: testkit.Virtual(t)}
		w.client = w.cluster.Client(t, kgo.DisableClientMetrics())
		topics := New(w.client, config)
		if err := New(w.client, topicConfig).Ensure(t.Context(), everyTopic()...); err != nil {
			t.Fatal(err)
		}
		w.Watcher = NewWatcher(topics, w.registry, w.log.Logger())
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		body(w)
		stop()
		if err := <-done; err != nil {
			t.Errorf("Run = %v after an orderly stop", err)
		}
	})
}

// pass lets time pass and the watcher look.
func (w *watch) pass(d time.Duration) {
	virtual.Sleep(d)
	synctest.Wait()
}

func (w *watch) says(text string, times int) {
	w.t.Helper()
	if got := w.log.Count(text); got != times {
		w.t.Errorf("%q was said %d times, want %d:\n%s", text, got, times, w.log.String())
	}
}

func (w *watch) counts(want string) {
	w.t.Helper()
	if err := testutil.GatherAndCompare(w.registry, strings.NewReader(want), "anabranch_topic_mismatches", "anabranch_topic_partitions_added"); err != nil {
		w.t.Error(err)
	}
}

func books(mismatches, grave, added string) string {
	return `# HELP anabranch_topic_mismatches Settings of existing topics that differ from ours; grave: events may be lost or come out of order.
# TYPE anabranch_topic_mismatches gauge
anabranch_topic_mismatches{grave="false"} ` + mismatches + `
anabranch_topic_mismatches{grave="true"} ` + grave + `
# HELP anabranch_topic_partitions_added Partitions added to topics since this process started watching them; each addition moves keys.
# TYPE anabranch_topic_partitions_added gauge
anabranch_topic_partitions_added ` + added + "\n"
}

func TestGuardIsSilentWhereNothingDiffers(t *testing.T) {
	t.Parallel()
	watched(t, topicConfig, func(w *watch) {
		w.pass(time.Hour)
		if text := w.log.String(); text != "" {
			w.t.Errorf("the log says\n%s", text)
		}
		w.counts(books("0", "0", "0"))
	})
}

// TestGuardSaysEachMismatchOnce however long it lasts.
func TestGuardSaysEachMismatchOnce(t *testing.T) {
	t.Parallel()
	config := topicConfig
	config.RawRetention *= 2 // kept too short: grave
	config.Partitions = 5    // raw-events, dead-letters and the retry topic have fewer
	watched(t, config, func(w *watch) {
		w.pass(time.Hour)
		w.says("topic differs", 4)
		w.says("level=WARN", 1)
		w.says("RAW_EVENTS_RETENTION", 1)
		w.counts(books("3", "1", "0"))
	})
}

// TestGuardSeesPartitionsThatAreAdded within a minute or so, says it loudly, and
// adds none itself.
func TestGuardSeesPartitionsThatAreAdded(t *testing.T) {
	t.Parallel()
	config := topicConfig
	config.Partitions = 6 // what an operator sets who adds two
	watched(t, config, func(w *watch) {
		w.pass(time.Second)
		w.says("partitions were added", 0)
		admin := kadm.NewClient(w.client)
		if _, err := admin.CreatePartitions(w.t.Context(), 2, schemas.TopicRawEvents, schemas.RetryTopic(time.Minute)); err != nil {
			w.t.Fatal(err)
		}
		w.pass(2 * watchEvery)
		w.says("level=ERROR", 2)
		w.says(`topic=raw-events before=4 now=6`, 1)
		w.counts(books("1", "0", "4"))
		w.pass(time.Hour)
		w.says("level=ERROR", 2)
		// One that is made anew has what it has.
		if _, err := admin.DeleteTopics(w.t.Context(), schemas.TopicRawEvents); err != nil {
			w.t.Fatal(err)
		}
		w.pass(2 * watchEvery)
		if err := New(w.client, topicConfig).Ensure(w.t.Context(), schemas.TopicRawEvents); err != nil {
			w.t.Fatal(err)
		}
		w.pass(2 * watchEvery)
		w.counts(books("2", "0", "2"))
	})
}

// TestGuardSeesSettingsThatAreChanged within ten minutes, and that they are put
// right again.
func TestGuardSeesSettingsThatAreChanged(t *testing.T) {
	t.Parallel()
	watched(t, topicConfig, func(w *watch) {
		w.pass(time.Second)
		keep := func(ms string) {
			changes := []kadm.AlterConfig{{Name: policy.RetentionMs, Value: &ms}}
			if _, err := kadm.NewClient(w.client).AlterTopicConfigs(w.t.Context(), changes, schemas.TopicRawEvents); err != nil {
				w.t.Fatal(err)
			}
		}
		keep("60000")
		w.pass(describeEvery * watchEvery)
		w.says("retention.ms", 1)
		w.counts(books("0", "1", "0"))
		w.pass(5 * watchEvery)
		w.counts(books("0", "1", "0"))
		keep("172800000")
		w.pass(describeEvery * watchEvery)
		w.counts(books("0", "0", "0"))
	})
}

// TestGuardSaysOnceThatItMayNotLook at settings.
func TestGuardSaysOnceThatItMayNotLook(t *testing.T) {
	t.Parallel()
	watched(t, topicConfig, func(w *watch) {
		hideSettings(w.cluster)
		w.pass(time.Hour)
		w.says("only partly", 1)
		w.says("DescribeConfigs", 1)
		w.counts(books("0", "0", "0"))
	})
}

// TestGuardOutlivesBrokers that are away, about which others complain.
func TestGuardOutlivesBrokers(t *testing.T) {
	t.Parallel()
	watched(t, topicConfig, func(w *watch) {
		w.pass(time.Second)
		w.cluster.Fake.Close()
		w.pass(10 * watchEvery)
		w.says("level=ERROR", 0)
		w.says("level=WARN", 0)
		w.counts(books("0", "0", "0"))
	})
}
