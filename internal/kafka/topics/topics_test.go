package topics

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

var topicConfig = policy.Config{Partitions: 4, DeliverPartitions: 2, Replication: -1, MinInSync: -1, RawRetention: 48 * time.Hour}

// everyTopic has one of each kind.
func everyTopic() []string {
	return []string{
		schemas.TopicRawEvents, schemas.TopicDeadLetters, schemas.TopicRedriven, schemas.TopicWorkspace,
		schemas.DeliverTopic("crm"), schemas.RetryTopic(time.Minute),
	}
}

func TestEnsureCreatesEachTopicWithItsPolicy(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	cl := cluster.Client(t)
	names := []string{schemas.TopicRawEvents, schemas.TopicDeadLetters, schemas.TopicRedriven, schemas.TopicWorkspace, schemas.DeliverTopic("crm"), schemas.RetryTopic(30 * time.Second)}
	if err := New(cl, topicConfig).Ensure(t.Context(), append(names, names...)...); err != nil {
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

func TestEnsureLeavesAnExistingTopicAsItIs(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	cl := cluster.Client(t)
	if err := New(cl, topicConfig).Ensure(t.Context(), schemas.TopicRawEvents); err != nil {
		t.Fatal(err)
	}
	more := topicConfig
	more.Partitions = 9
	if err := New(cl, more).Ensure(t.Context(), schemas.TopicRawEvents); err != nil {
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
		topics := New(cluster.Client(t), topicConfig)
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
	err := New(testkit.Brokers(t).Client(t), topicConfig).Ensure(t.Context(), "somebody-elses")
	if err == nil || !strings.Contains(err.Error(), `"somebody-elses"`) {
		t.Errorf("Ensure = %v, want a refusal that names the topic", err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	topics := New(testkit.Brokers(t).Client(t), topicConfig)
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

// TestDestinationsShareThePartitions: the more destinations there are, the fewer
// partitions the topic of each gets.
func TestDestinationsShareThePartitions(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	topics := New(cluster.Client(t, kgo.MetadataMinAge(10*time.Millisecond)), policy.Config{Partitions: 1, Replication: -1, RawRetention: 48 * time.Hour})
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
