package topics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/anabranch/anabranch/internal/kafka/policy"
)

// Create creates those of the named topics that do not exist, and waits for nothing:
// neither for what it has created to be visible, nor for leaders of what exists. It
// returns why topics can't be had, by their names, so that one which is refused holds
// up no other. The error is about the brokers, and so about all of them.
func (t *Admin) Create(ctx context.Context, names ...string) (refused map[string]error, err error) {
	if len(names) == 0 {
		return nil, nil // the library takes none for all
	}
	names = slices.Compact(slices.Sorted(slices.Values(names))) // brokers refuse a request that names one twice
	refused = make(map[string]error)
	details, err := t.admin.ListTopics(ctx, names...)
	if errors.Is(err, kerr.TopicAuthorizationFailed) {
		for _, name := range t.hidden(ctx, names) {
			refused[name] = fmt.Errorf("see topic %s: %w", name, unseen(kerr.TopicAuthorizationFailed))
		}
		names = slices.DeleteFunc(names, func(name string) bool { return refused[name] != nil })
		if len(names) == 0 {
			return refused, nil
		}
		details, err = t.admin.ListTopics(ctx, names...)
	}
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	absent := slices.DeleteFunc(names, func(name string) bool {
		d, listed := details[name]
		return listed && !errors.Is(d.Err, kerr.UnknownTopicOrPartition)
	})
	more, err := t.createEach(ctx, absent)
	maps.Copy(refused, more)
	return refused, err
}

// createAll creates topics. The error is the first of those that are refused.
func (t *Admin) createAll(ctx context.Context, names []string) error {
	refused, err := t.createEach(ctx, names)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(refused)) {
		return refused[name]
	}
	return nil
}

// createEach creates topics, those of one policy in one request: a cluster takes
// about as long for a thousand of them as for one. It returns which are refused, and
// why.
func (t *Admin) createEach(ctx context.Context, names []string) (refused map[string]error, err error) {
	deliver, err := t.automatic(ctx, names)
	if err != nil {
		return nil, err
	}
	beside, err := t.beside(ctx, names)
	if err != nil {
		return nil, err
	}
	refused = make(map[string]error)
	alike := make(map[string][]string)
	policies := make(map[string]policy.Policy)
	for _, name := range names {
		p, err := t.config.Of(name)
		if err != nil {
			refused[name] = err
			continue
		}
		p.Partitions = cmp.Or(beside[name], p.Partitions, deliver)
		alike[p.String()] = append(alike[p.String()], name)
		policies[p.String()] = p
	}
	for _, text := range slices.Sorted(maps.Keys(alike)) {
		if err := t.create(ctx, policies[text], alike[text], refused); err != nil {
			return refused, err
		}
	}
	return refused, nil
}

// create creates topics of one policy and notes which are refused, without what is
// optional where the brokers refuse that. They do not say which setting they do not
// know.
func (t *Admin) create(ctx context.Context, p policy.Policy, names []string, refused map[string]error) error {
	failed, err := t.request(ctx, p, names)
	for _, left := range []string{policy.IndexBytes, policy.TimestampType} {
		again := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !errors.Is(failed[name], kerr.InvalidConfig) })
		if _, asked := p.Optional[left]; !asked || len(again) == 0 {
			continue
		}
		delete(p.Optional, left)
		for _, name := range again {
			delete(failed, name)
		}
		var still map[string]error
		still, err = t.request(ctx, p, again)
		maps.Copy(failed, still)
	}
	maps.Copy(refused, failed)
	return err
}

// request asks for topics of one policy, and returns which are refused.
func (t *Admin) request(ctx context.Context, p policy.Policy, names []string) (map[string]error, error) {
	configs := make(map[string]*string)
	for key, value := range p.All() {
		configs[key] = &value
	}
	responses, err := t.admin.CreateTopics(ctx, int32(p.Partitions), int16(t.config.Replication), configs, names...)
	if err != nil {
		return nil, fmt.Errorf("create topics %s with %s: %w", abridged(names), p.String(), err)
	}
	refused := make(map[string]error)
	for _, r := range responses {
		// Several processes start at once, and a topic can exist without being
		// visible yet.
		if r.Err != nil && !errors.Is(r.Err, kerr.TopicAlreadyExists) {
			refused[r.Topic] = fmt.Errorf("create topic %s with %s: %w", r.Topic, p.String(), uncreated(r.Topic, p.Partitions, r.Err))
		}
	}
	return refused, nil
}

// abridged names the first and the last of many.
func abridged(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s to %s (%d topics)", names[0], names[len(names)-1], len(names))
}

// automatic is the number of partitions of a destination's topic where the
// settings leave it open: by how many of them there are, those among names
// included.
func (t *Admin) automatic(ctx context.Context, names []string) (int, error) {
	if t.config.DeliverPartitions != 0 || !slices.ContainsFunc(names, policy.PerDestination) {
		return t.config.DeliverPartitions, nil
	}
	existing, err := t.List(ctx, "")
	if err != nil {
		return 0, err
	}
	all := slices.DeleteFunc(append(existing, names...), func(name string) bool { return !policy.IsDeliver(name) })
	slices.Sort(all)
	return policy.DeliverPartitions(len(slices.Compact(all))), nil
}

// beside is the number of partitions of those of names that are to have as many as
// another topic, where that one exists.
func (t *Admin) beside(ctx context.Context, names []string) (map[string]int, error) {
	partitions := make(map[string]int)
	for _, name := range names {
		other, ok := policy.Beside(name)
		if !ok {
			continue
		}
		n, err := t.Partitions(ctx, other)
		if err != nil {
			return nil, err
		}
		partitions[name] = n
	}
	return partitions, nil
}
