package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ErrUndescribed means that the brokers do not let our principal look at the
// settings of topics (it has no DescribeConfigs).
var ErrUndescribed = errors.New("no permission to look at the settings of topics (DescribeConfigs): their partitions and replicas alone are compared")

// Check compares every existing topic of ours with the settings, in the order of
// names. What it returns beside [ErrUndescribed] is what can be said without the
// topics' own settings; with any other error it is nothing.
func (t *Topics) Check(ctx context.Context) ([]Mismatch, error) {
	states, err := t.shapes(ctx)
	if err != nil {
		return nil, err
	}
	err = t.describe(ctx, states)
	if err != nil && !errors.Is(err, ErrUndescribed) {
		return nil, err
	}
	return t.config.compareAll(states), err
}

func (c TopicConfig) compareAll(states map[string]TopicState) []Mismatch {
	found := make([]Mismatch, 0, len(states))
	for _, name := range slices.Sorted(maps.Keys(states)) {
		found = append(found, c.Compare(name, states[name])...)
	}
	return append(found, c.compareClocks(states)...)
}

// shapes looks at all topics of ours that our principal may see, without their
// settings.
func (t *Topics) shapes(ctx context.Context) (map[string]TopicState, error) {
	details, err := t.admin.ListTopics(ctx)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	states := make(map[string]TopicState)
	for name, d := range details {
		if _, ours := t.config.known(name); ours && d.Err == nil && len(d.Partitions) > 0 {
			states[name] = TopicState{Partitions: len(d.Partitions), Replicas: fewestReplicas(d)}
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

// describe adds the settings of topics. It asks for the few that matter: all that
// there are of a thousand topics would be megabytes.
func (t *Topics) describe(ctx context.Context, states map[string]TopicState) error {
	req := kmsg.NewPtrDescribeConfigsRequest()
	for name := range states {
		resource := kmsg.NewDescribeConfigsRequestResource()
		resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, name
		resource.ConfigNames = []string{cleanupPolicy, retentionMs, retentionBytes, minInSync, timestampType, timestampAhead, messageBytes}
		req.Resources = append(req.Resources, resource)
	}
	if len(req.Resources) == 0 {
		return nil
	}
	resp, err := req.RequestWith(ctx, t.client)
	if err != nil {
		return fmt.Errorf("describe the settings of topics: %w", err)
	}
	var hidden error
	for _, r := range resp.Resources {
		err := kerr.ErrorForCode(r.ErrorCode)
		switch {
		case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.ClusterAuthorizationFailed):
			hidden = ErrUndescribed
		case errors.Is(err, kerr.UnknownTopicOrPartition): // deleted meanwhile
			delete(states, r.ResourceName)
		case err != nil:
			return fmt.Errorf("describe the settings of %s: %w", r.ResourceName, err)
		default:
			state := states[r.ResourceName]
			state.Configs = configsOf(r)
			states[r.ResourceName] = state
		}
	}
	return hidden
}

func configsOf(r kmsg.DescribeConfigsResponseResource) map[string]string {
	configs := make(map[string]string, len(r.Configs))
	for _, c := range r.Configs {
		if c.Value != nil {
			configs[c.Name] = *c.Value
		}
	}
	return configs
}
