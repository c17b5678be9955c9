package pipeline

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// two are a stage that writes what the other one reads.
func two() Stages {
	return List{
		func() *Stage {
			return &Stage{
				Name: "first", Does: "begins",
				Topics: []Topic{
					{Name: schemas.TopicRawEvents, Consumed: Verb{To: "split", Done: "split"}},
					{Name: schemas.TopicWorkspace, Read: true, Why: "knows destinations"},
					{Name: schemas.DeliverPrefix, Write: true, Why: "writes parts"},
				},
				Group:        Group{Name: "anabranch-first", Copy: Copy{Group: "anabranch-first-copy", Why: "keeps", Without: "it works"}},
				Transactions: Transactions{Prefix: "anabranch-first-", Why: "once"},
			}
		},
		func() *Stage {
			return &Stage{
				Name: "second-one",
				Topics: []Topic{
					{Name: schemas.DeliverPrefix, Consumed: Verb{To: "send", Done: "sent"}},
					{Name: schemas.RetryPrefix, Write: true, Consumed: Verb{To: "retry", Done: "retried"}},
					{Name: schemas.TopicRawEvents, Write: true},
				},
				Group: Group{Name: "anabranch-second"},
				Facts: func() Facts { return Facts{Topics: []string{"webhook-retry.5s", "webhook-retry.5s"}} },
			}
		},
		func() *Stage { return &Stage{Name: "third", Transactions: Transactions{Prefix: "anabranch-third-"}} },
	}.Make()
}

func TestReaders(t *testing.T) {
	t.Parallel()
	for topic, want := range map[string][]string{
		schemas.TopicRawEvents: {"anabranch-first"},
		"deliver.crm":          {"anabranch-second"},
		"webhook-retry.5s":     {"anabranch-second"},
		"deliver.NoneOfOurs":   nil,
		schemas.TopicWorkspace: nil, // read, but by no group
	} {
		if got := two().Readers(topic); !slices.Equal(got, want) {
			t.Errorf("readers of %s: %v, want %v", topic, got, want)
		}
	}
}

func TestTopics(t *testing.T) {
	t.Parallel()
	var all, consumed []string
	for _, topic := range two().Topics() {
		all = append(all, topic.Name)
	}
	for _, topic := range two().Consumed() {
		consumed = append(consumed, topic.Name)
	}
	for what, c := range map[string]struct{ got, want []string }{
		"all":       {all, []string{"raw-events", "workspace", "deliver.", "webhook-retry."}},
		"consumed":  {consumed, []string{"raw-events", "deliver.", "webhook-retry."}},
		"fixed":     {two().Fixed(), []string{"raw-events", "workspace"}},
		"needed":    {two().Needed(), []string{"raw-events", "webhook-retry.5s", "workspace"}},
		"grouped":   {two().Grouped().Names(), []string{"first", "second-one"}},
		"variables": {two().Variables(), []string{"FIRST_", "SECOND_ONE_", "THIRD_"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", what, c.got, c.want)
		}
	}
}

// TestTransactional: transactions of a stage without a group have no offsets.
func TestTransactional(t *testing.T) {
	t.Parallel()
	for i, want := range []bool{true, false, false} {
		if s := two()[i]; s.Transactional() != want {
			t.Errorf("%s: %t", s.Name, !want)
		}
	}
}

func TestRole(t *testing.T) {
	t.Parallel()
	role := two().Roles()[0]
	got := make([]string, len(role.Rules))
	for i, r := range role.Rules {
		got[i] = strings.TrimSpace(r.String() + " " + r.Without)
	}
	want := []string{
		"Read on topic raw-events", "Create on topic raw-events", "DescribeConfigs on topic raw-events",
		"Read on topic workspace", "Create on topic workspace", "DescribeConfigs on topic workspace",
		"Write on topic deliver.*", "Create on topic deliver.*", "DescribeConfigs on topic deliver.*",
		"Read on group anabranch-first", "Read on group anabranch-first-copy it works",
		"Write on transactional id anabranch-first-*",
	}
	if diff := cmp.Diff(want, got); diff != "" || role.Name != "first" || role.Does != "begins" {
		t.Errorf("role %s, which %s (-want +got):\n%s", role.Name, role.Does, diff)
	}
	if rules := two()[2].Role().Rules; len(rules) != 1 {
		t.Errorf("a stage with transactions alone needs %v", rules)
	}
}

// TestAStageRests where there is no destination of the type that it works for.
func TestAStageRests(t *testing.T) {
	t.Parallel()
	none, one := workspace.NewSnapshot(nil, nil), workspace.NewSnapshot(nil, []workspace.Destination{{ID: "cold", Type: workspace.TypeArchive}})
	for _, c := range []struct {
		serves string
		ws     *workspace.Snapshot
		want   bool
	}{{"", none, false}, {workspace.TypeArchive, none, true}, {workspace.TypeArchive, one, false}} {
		if got := (&Stage{Serves: c.serves}).Rests(c.ws); got != c.want {
			t.Errorf("one for %q rests: %t", c.serves, got)
		}
	}
}

// TestEachMakeIsAnew: processes in one test do not share settings.
func TestEachMakeIsAnew(t *testing.T) {
	t.Parallel()
	list := List{func() *Stage { return &Stage{Name: "a"} }}
	if first, second := list.Make(), list.Make(); first[0] == second[0] {
		t.Error("two calls made the same stage")
	}
}
