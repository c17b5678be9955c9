package topics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/internal/lookup"
	"github.com/anabranch/anabranch/internal/kafka/policy"
)

// ErrUndescribed means that the brokers do not let our principal look at the
// settings of topics (it has no DescribeConfigs).
var ErrUndescribed = errors.New("no permission to read the settings of topics (DescribeConfigs): only their partitions and replicas are compared")

// Check compares every existing topic of ours with the settings, in the order of
// names. What it returns beside [ErrUndescribed] is what can be said without the
// topics' own settings; with any other error it is nothing.
func (t *Admin) Check(ctx context.Context) ([]policy.Mismatch, error) {
	states, err := t.shapes(ctx)
	if err != nil {
		return nil, err
	}
	err = t.describe(ctx, states)
	if err != nil && !errors.Is(err, ErrUndescribed) {
		return nil, err
	}
	return t.config.CompareAll(states), err
}

// shapes looks at all topics of ours that our principal may see, without their
// settings.
func (t *Admin) shapes(ctx context.Context) (map[string]policy.State, error) {
	details, err := t.admin.ListTopics(ctx)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	states := make(map[string]policy.State)
	for name, d := range details {
		if t.config.Ours(name) && d.Err == nil && len(d.Partitions) > 0 {
			states[name] = policy.State{Partitions: len(d.Partitions), Replicas: fewestReplicas(d)}
		}
	}
	return states, nil
}

func fewestReplicas(d kadm.TopicDetail) int {
	fewest := 0
	for _, p := range d.Partitions {
		if n := len(p.Replicas); fewest == 0 || n < fewest {
			fewest = n
		}
	}
	return fewest
}

// describe adds the settings of topics, and takes those out that are gone meanwhile.
func (t *Admin) describe(ctx context.Context, states map[string]policy.State) error {
	found, err := Settings(ctx, t.Client, policy.Compared(), slices.Collect(maps.Keys(states))...)
	if err != nil && !errors.Is(err, ErrUndescribed) {
		return err
	}
	for name, state := range states {
		configs, exists := found[name]
		if !exists {
			delete(states, name)
			continue
		}
		state.Configs = configs
		states[name] = state
	}
	return err
}

// Settings returns the named settings of topics, by their names. Topics that do not
// exist are left out; what may not be seen has none, and the error is [ErrUndescribed]
// then. With any other error there is nothing.
func Settings(ctx context.Context, cl *kgo.Client, settings []string, names ...string) (map[string]map[string]string, error) {
	found, err := lookup.Settings(ctx, cl, kmsg.ConfigResourceTypeTopic, settings, names...)
	if errors.Is(err, lookup.ErrHidden) {
		return found, ErrUndescribed
	}
	return found, err
}
