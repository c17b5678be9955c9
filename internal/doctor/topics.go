package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
)

// topicFacts is what the brokers say of one topic.
type topicFacts struct {
	name       string
	err        error
	partitions int
	leaderless int   // partitions that nobody leads: nothing can be written there or read
	behind     int   // partitions with replicas that are away
	allowed    int32 // what our principal may do: a bit for each operation
}

// lookAtTopics asks for all topics that our principal may see, and by their names
// for those expected that are not among them: brokers tell then which ones it may
// not see. Those that are not there are left out.
func lookAtTopics(ctx context.Context, cl *kgo.Client, expected []string) ([]topicFacts, error) {
	all, err := describeTopics(ctx, cl, nil)
	if err != nil {
		return nil, err
	}
	unseen := slices.DeleteFunc(slices.Clone(expected), func(name string) bool {
		return slices.ContainsFunc(all, func(t topicFacts) bool { return t.name == name })
	})
	if len(unseen) > 0 {
		hidden, err := describeTopics(ctx, cl, unseen)
		if err != nil {
			return nil, err
		}
		all = append(all, hidden...)
	}
	slices.SortFunc(all, func(a, b topicFacts) int { return cmp.Compare(a.name, b.name) })
	return slices.DeleteFunc(all, func(t topicFacts) bool { return errors.Is(t.err, kerr.UnknownTopicOrPartition) }), nil
}

// describeTopics asks for topics of the names, nil for all.
func describeTopics(ctx context.Context, cl *kgo.Client, names []string) ([]topicFacts, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.IncludeTopicAuthorizedOperations = true
	for _, name := range names {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = &name
		req.Topics = append(req.Topics, topic)
	}
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return nil, fmt.Errorf("look up topics: %w", err)
	}
	all := make([]topicFacts, 0, len(resp.Topics))
	for i := range resp.Topics {
		if t := &resp.Topics[i]; t.Topic != nil && !t.IsInternal {
			all = append(all, newTopicFacts(t))
		}
	}
	return all, nil
}

func newTopicFacts(t *kmsg.MetadataResponseTopic) topicFacts {
	facts := topicFacts{name: *t.Topic, err: kerr.ErrorForCode(t.ErrorCode), partitions: len(t.Partitions), allowed: t.AuthorizedOperations}
	if errors.Is(facts.err, kerr.TopicAuthorizationFailed) {
		facts.allowed = 0
	}
	for i := range t.Partitions {
		switch p := &t.Partitions[i]; {
		case p.Leader < 0:
			facts.leaderless++
		case len(p.ISR) < len(p.Replicas):
			facts.behind++
		}
	}
	return facts
}

// judgeTopics judges whether the expected topics are there and whole. Mismatches are
// what [topics.Admin.Check] found, and unchecked what kept it from finding more.
func judgeTopics(facts []topicFacts, expected []string, mismatches []policy.Mismatch, unchecked error) []Finding {
	f := &findings{check: CheckTopics}
	exists := make(map[string]bool, len(facts))
	for i := range facts {
		t := &facts[i]
		exists[t.name] = true
		if !slices.Contains(expected, t.name) {
			continue
		}
		switch {
		case errors.Is(t.err, kerr.TopicAuthorizationFailed): // whether that is wrong, permissions tell
		case t.err != nil:
			f.problem(t.name, "can't be used: "+t.err.Error(), cmp.Or(kafka.Advice(t.err), "look at the brokers' logs"))
		case t.leaderless > 0:
			f.problem(t.name, fmt.Sprintf("%d of %d partitions have no leader", t.leaderless, t.partitions), "bring back the brokers that hold them")
		case t.behind > 0:
			f.warn(t.name, fmt.Sprintf("%d of %d partitions have replicas that are offline", t.behind, t.partitions), "bring back the brokers that hold them, before another one is lost")
		}
	}
	if missing := slices.DeleteFunc(slices.Clone(expected), func(name string) bool { return exists[name] }); len(missing) > 0 {
		f.warn("", "not there: "+some(missing), "stages and `anabranch apply` create what they need; if all have been started, check the permissions")
	}
	for _, m := range mismatches {
		judge := f.warn
		if m.Grave {
			judge = f.problem
		}
		judge(m.Topic, fmt.Sprintf("%s is %s, expected %s: %s", m.Setting, m.Have, m.Want, m.Meaning), m.Advice)
	}
	switch {
	case errors.Is(unchecked, topics.ErrUndescribed):
		f.warn("", unchecked.Error(), "allow DescribeConfigs on them: docs/brokers.md has the command")
	case unchecked != nil:
		f.warn("", "the settings of topics could not be compared: "+unchecked.Error(), cmp.Or(kafka.Advice(unchecked), "look again"))
	}
	return f.otherwise(fmt.Sprintf("%d topics exist, each partition has a leader and all of its replicas", len(expected)))
}

// some names some of many.
func some(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
