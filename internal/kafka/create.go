package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/anabranch/anabranch/schemas"
)

// createAll creates topics, those of one policy in one request: a cluster takes
// about as long for a thousand of them as for one.
func (t *Topics) createAll(ctx context.Context, names []string) error {
	deliver, err := t.automatic(ctx, names)
	if err != nil {
		return err
	}
	alike := make(map[string][]string)
	policies := make(map[string]policy)
	for _, name := range names {
		p, err := t.config.policyOf(name)
		if err != nil {
			return err
		}
		if p.partitions == 0 {
			p.partitions = deliver
		}
		alike[p.describe()] = append(alike[p.describe()], name)
		policies[p.describe()] = p
	}
	for _, text := range slices.Sorted(maps.Keys(alike)) {
		if err := t.create(ctx, policies[text], alike[text]); err != nil {
			return err
		}
	}
	return nil
}

// create creates topics of one policy, without what is optional where the brokers
// refuse that. They do not say which setting they do not know.
func (t *Topics) create(ctx context.Context, p policy, names []string) error {
	err := t.request(ctx, p, names)
	for _, left := range []string{indexBytes, timestampType} {
		if _, asked := p.optional[left]; !asked || !errors.Is(err, kerr.InvalidConfig) {
			continue
		}
		delete(p.optional, left)
		err = t.request(ctx, p, names)
	}
	return err
}

func (t *Topics) request(ctx context.Context, p policy, names []string) error {
	configs := make(map[string]*string)
	for key, value := range p.all() {
		configs[key] = &value
	}
	responses, err := t.admin.CreateTopics(ctx, int32(p.partitions), int16(t.config.Replication), configs, names...)
	if err != nil {
		return fmt.Errorf("create topics %s with %s: %w", abridged(names), p.describe(), err)
	}
	for _, r := range responses.Sorted() {
		// Several processes start at once, and a topic can exist without being
		// visible yet.
		if r.Err != nil && !errors.Is(r.Err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("create topic %s with %s: %w", r.Topic, p.describe(), uncreated(r.Err))
		}
	}
	return nil
}

// abridged names the first and the last of many.
func abridged(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s to %s (%d topics)", names[0], names[len(names)-1], len(names))
}

// all are the settings, optional ones included.
func (p policy) all() map[string]string {
	all := maps.Clone(p.configs)
	maps.Copy(all, p.optional)
	return all
}

func (p policy) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d partitions", p.partitions)
	all := p.all()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		b.WriteString(", " + key + "=" + all[key])
	}
	return b.String()
}

// automatic is the number of partitions of a destination's topic where the
// settings leave it open: by how many of them there are, those among names
// included.
func (t *Topics) automatic(ctx context.Context, names []string) (int, error) {
	if t.config.DeliverPartitions != 0 || !slices.ContainsFunc(names, isDeliver) {
		return t.config.DeliverPartitions, nil
	}
	existing, err := t.List(ctx, "")
	if err != nil {
		return 0, err
	}
	all := slices.DeleteFunc(append(existing, names...), func(name string) bool { return !isDeliver(name) })
	slices.Sort(all)
	return deliverPartitions(len(slices.Compact(all))), nil
}

func isDeliver(topic string) bool {
	_, deliver := schemas.DestinationOf(topic)
	return deliver
}

// deliverPartitions is how many partitions a destination's topic gets among n of
// them. What a member spends on an event follows the number of its partitions,
// all of which each fetch looks through; and one partition feeds as many
// concurrent deliveries as six do, so the larger number is for members to share.
func deliverPartitions(n int) int {
	const few, many = 50, 300
	choices := deliverChoices()
	switch {
	case n <= few:
		return choices[0]
	case n <= many:
		return choices[1]
	default:
		return choices[2]
	}
}

// deliverChoices are the numbers that deliverPartitions chooses from.
func deliverChoices() []int { return []int{6, 2, 1} }
