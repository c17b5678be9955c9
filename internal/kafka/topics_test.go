package kafka

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/schemas"
)

var topicConfig = TopicConfig{Partitions: 4, DeliverPartitions: 2, Replication: -1, MinInSync: -1, RawRetention: 48 * time.Hour}

func TestEnsureCreatesEachTopicWithItsPolicy(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	cl := cluster.Client(t)
	names := []string{schemas.TopicRawEvents, schemas.TopicDeadLetters, schemas.TopicRedriven, schemas.TopicWorkspace, schemas.DeliverTopic("crm"), schemas.RetryTopic(30 * time.Second)}
	if err := NewTopics(cl, topicConfig).Ensure(t.Context(), append(names, names...)...); err != nil {
		t.Fatal(err)
	}
	admin := kadm.NewClient(cl)
	details, err := admin.ListTopics(t.Context(), names...)
	if err != nil {
		t.Fatal(err)
	}
	configs, err := admin.DescribeTopicConfigs(t.Context(), names...)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		partitions        int
		policy, retention string
	}{
		"raw-events":            {4, "delete", "172800000"},
		"dead-letters":          {4, "delete", "2592000000"},
		"dead-letters-redriven": {1, "delete", "5184000000"},
		"workspace":             {1, "compact", ""},
		"deliver.crm":           {2, "delete", "604800000"},
		"webhook-retry.30s":     {4, "delete", "604800000"},
	} {
		if got := len(details[name].Partitions); got != want.partitions {
			t.Errorf("%s has %d partitions, want %d", name, got, want.partitions)
		}
		if got := config(t, configs, name, "cleanup.policy"); got != want.policy {
			t.Errorf("%s: cleanup.policy=%s, want %s", name, got, want.policy)
		}
		if got := config(t, configs, name, "retention.ms"); want.retention != "" && got != want.retention {
			t.Errorf("%s: retention.ms=%s, want %s", name, got, want.retention)
		}
	}
}

func config(t *testing.T, configs kadm.ResourceConfigs, topic, key string) string {
	t.Helper()
	rc, err := configs.On(topic, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range rc.Configs {
		if c.Key == key {
			return c.MaybeValue()
		}
	}
	return ""
}

// On the embedded broker nothing may be compacted: a crash in the midst of it
// loses keys.
func TestEmbeddedKeepsStateWhole(t *testing.T) {
	t.Parallel()
	c := topicConfig
	c.Embedded = true
	p, err := c.policyOf(schemas.TopicWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	if p.configs["cleanup.policy"] != "delete" || p.configs["retention.ms"] != "-1" || p.configs["retention.bytes"] != "-1" {
		t.Errorf("workspace on the embedded broker: %v, want delete without end", p.configs)
	}
}

// What the embedded broker keeps it reads into memory at its next start.
func TestEmbeddedBoundsItsHistory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config TopicConfig
		topic  string
		want   string
	}{
		"history, embedded":     {TopicConfig{Embedded: true}, schemas.TopicRawEvents, "134217728"},
		"history, as set":       {TopicConfig{Embedded: true, RawBytes: 5}, schemas.TopicRawEvents, "5"},
		"history, Kafka":        {TopicConfig{}, schemas.TopicRawEvents, "-1"},
		"history, Kafka as set": {TopicConfig{RawBytes: 5}, schemas.TopicRawEvents, "5"},
		"a backlog is not cut":  {TopicConfig{Embedded: true, RawBytes: 5}, schemas.DeliverTopic("crm"), "-1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := c.config.policyOf(c.topic)
			if err != nil || p.configs["retention.bytes"] != c.want {
				t.Errorf("retention.bytes of %s is %q, want %q (%v)", c.topic, p.configs["retention.bytes"], c.want, err)
			}
		})
	}
}

func TestEnsureLeavesAnExistingTopicAsItIs(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	cl := cluster.Client(t)
	if err := NewTopics(cl, topicConfig).Ensure(t.Context(), schemas.TopicRawEvents); err != nil {
		t.Fatal(err)
	}
	more := topicConfig
	more.Partitions = 9
	if err := NewTopics(cl, more).Ensure(t.Context(), schemas.TopicRawEvents); err != nil {
		t.Fatal(err)
	}
	details, err := kadm.NewClient(cl).ListTopics(t.Context(), schemas.TopicRawEvents)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(details[schemas.TopicRawEvents].Partitions); got != 4 {
		t.Errorf("raw-events has %d partitions after a second start with another setting, want 4: keys would move", got)
	}
}

func TestEnsureFromManyProcessesAtOnce(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	var wg sync.WaitGroup
	for range 6 {
		topics := NewTopics(cluster.Client(t), topicConfig)
		wg.Go(func() {
			if err := topics.Ensure(t.Context(), schemas.TopicRawEvents, schemas.DeliverTopic("crm")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestEnsureRefusesForeignTopics(t *testing.T) {
	t.Parallel()
	err := NewTopics(testkit.Brokers(t).Client(t), topicConfig).Ensure(t.Context(), "somebody-elses")
	if err == nil || !strings.Contains(err.Error(), `"somebody-elses"`) {
		t.Errorf("Ensure = %v, want a refusal that names the topic", err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	topics := NewTopics(testkit.Brokers(t).Client(t), topicConfig)
	if err := topics.Ensure(t.Context(), schemas.DeliverTopic("b"), schemas.DeliverTopic("a"), schemas.TopicRawEvents); err != nil {
		t.Fatal(err)
	}
	got, err := topics.List(t.Context(), schemas.DeliverTopic(""))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"deliver.a", "deliver.b"}; !slices.Equal(got, want) {
		t.Errorf("List = %v, want %v", got, want)
	}
}

func TestRanges(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	cl := cluster.Client(t)
	embedded := topicConfig
	embedded.Embedded = true // or the broker would put its own time on records
	topics := NewTopics(cl, embedded)
	ranges := func(since time.Time) map[int32]Range {
		t.Helper()
		got, err := topics.Ranges(t.Context(), schemas.TopicRedriven, since)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := ranges(time.Time{}); len(got) != 0 {
		t.Errorf("ranges of a topic that does not exist: %v", got)
	}
	if err := topics.Ensure(t.Context(), schemas.TopicRedriven); err != nil {
		t.Fatal(err)
	}
	noon := time.Now().Truncate(time.Second)
	for _, at := range []time.Time{noon.Add(-time.Hour), noon, noon.Add(time.Hour)} {
		r := &kgo.Record{Topic: schemas.TopicRedriven, Key: []byte("0-0"), Timestamp: at}
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	for since, want := range map[time.Time]Range{
		{}:                         {0, 3},
		noon.Add(-2 * time.Hour):   {0, 3},
		noon:                       {1, 3},
		noon.Add(time.Millisecond): {2, 3},
		noon.Add(2 * time.Hour):    {3, 3},
	} {
		if got := ranges(since); len(got) != 1 || got[0] != want {
			t.Errorf("ranges since %v: %v, want %v", since, got, want)
		}
	}
}

func TestTopicConfigNamesWhatCannotWork(t *testing.T) {
	t.Parallel()
	good := TopicConfig{Partitions: 6, Replication: 3, MinInSync: 2, RawRetention: time.Hour}
	if err := good.Validate(); err != nil {
		t.Errorf("Validate of a good configuration = %v", err)
	}
	for want, change := range map[string]func(*TopicConfig){
		"TOPIC_PARTITIONS=0":                      func(c *TopicConfig) { c.Partitions = 0 },
		"DELIVER_TOPIC_PARTITIONS=20000":          func(c *TopicConfig) { c.DeliverPartitions = 20_000 },
		"TOPIC_REPLICATION=0":                     func(c *TopicConfig) { c.Replication = 0 },
		"TOPIC_REPLICATION=101":                   func(c *TopicConfig) { c.Replication = 101 },
		"TOPIC_MIN_INSYNC_REPLICAS=0":             func(c *TopicConfig) { c.MinInSync = 0 },
		"expected at most TOPIC_REPLICATION=3":    func(c *TopicConfig) { c.MinInSync = 4 },
		"RAW_EVENTS_RETENTION=1m0s":               func(c *TopicConfig) { c.RawRetention = time.Minute },
		"RAW_EVENTS_RETENTION_BYTES=-1":           func(c *TopicConfig) { c.RawBytes = -1 },
		"DELIVER_TOPIC_RETENTION=1h0m0s":          func(c *TopicConfig) { c.DeliverRetention = time.Hour },
		"RETRY_TOPIC_RETENTION=4h0m0s":            func(c *TopicConfig) { c.RetryRetention = 4 * time.Hour },
		"DEAD_LETTERS_RETENTION=-1s: expected at": func(c *TopicConfig) { c.DeadLettersRetention = -time.Second },
	} {
		bad := good
		change(&bad)
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Validate = %v, want %q in it and nothing else", err, want)
		}
	}
	all := TopicConfig{MinInSync: 5, RawBytes: -1, RetryRetention: 1}
	if err := all.Validate(); strings.Count(err.Error(), "\n") != 4 {
		t.Errorf("Validate = %v, want all five mistakes", err)
	}
}

// TestRetentionIsAsSet, each for its own topics, and the marks of redriven dead
// letters outlive the letters.
func TestRetentionIsAsSet(t *testing.T) {
	t.Parallel()
	set := TopicConfig{RawRetention: time.Hour, DeliverRetention: 7 * time.Hour, RetryRetention: 8 * time.Hour, DeadLettersRetention: 9 * time.Hour}
	embedded := TopicConfig{RawRetention: time.Hour, Embedded: true}
	for topic, want := range map[string]struct{ set, unset, embedded time.Duration }{
		schemas.TopicRawEvents:          {time.Hour, 0, time.Hour},
		schemas.DeliverTopic("crm"):     {7 * time.Hour, 168 * time.Hour, 24 * time.Hour},
		schemas.RetryTopic(time.Minute): {8 * time.Hour, 168 * time.Hour, 24 * time.Hour},
		schemas.TopicDeadLetters:        {9 * time.Hour, 720 * time.Hour, 720 * time.Hour},
		schemas.TopicRedriven:           {18 * time.Hour, 1440 * time.Hour, 1440 * time.Hour},
	} {
		for config, want := range map[TopicConfig]time.Duration{set: want.set, {}: want.unset, embedded: want.embedded} {
			p, err := config.policyOf(topic)
			if got := p.configs[retentionMs]; err != nil || got != strconv.FormatInt(want.Milliseconds(), 10) {
				t.Errorf("%s with %+v is kept for %s ms, want %s (%v)", topic, config, got, want, err)
			}
		}
	}
}

// TestMinInSyncIsTheBrokersUnlessSet, for every topic.
func TestMinInSyncIsTheBrokersUnlessSet(t *testing.T) {
	t.Parallel()
	for _, topic := range everyTopic() {
		for config, want := range map[TopicConfig]string{{MinInSync: -1}: "", {MinInSync: 2}: "2"} {
			p, err := config.policyOf(topic)
			if got := p.configs[minInSync]; err != nil || got != want {
				t.Errorf("min.insync.replicas of %s is %q, want %q (%v)", topic, got, want, err)
			}
		}
	}
}

// TestDestinationsShareThePartitions: the more destinations there are, the fewer
// partitions the topic of each gets.
func TestDestinationsShareThePartitions(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	topics := NewTopics(cluster.Client(t, kgo.MetadataMinAge(10*time.Millisecond)), TopicConfig{Partitions: 1, Replication: -1, RawRetention: 48 * time.Hour})
	name := func(i int) string { return schemas.DeliverTopic("d" + strconv.Itoa(i)) }
	made := 0
	for _, tt := range []struct{ topics, each int }{{50, 6}, {51, 2}, {301, 1}} {
		var names []string
		for ; made < tt.topics; made++ {
			names = append(names, name(made))
		}
		if err := topics.Ensure(t.Context(), names...); err != nil {
			t.Fatal(err)
		}
		if got, err := topics.Partitions(t.Context(), names...); err != nil || got != tt.each*len(names) {
			t.Errorf("%d topics beside %d have %d partitions (%v), expected %d each", len(names), tt.topics-len(names), got, err, tt.each)
		}
	}
	if got, err := topics.Partitions(t.Context(), name(0), name(50), name(300), name(999)); err != nil || got != 6+2+1 {
		t.Errorf("four topics, of which one does not exist, have %d partitions (%v), expected 9: those of old ones stay", got, err)
	}
}
