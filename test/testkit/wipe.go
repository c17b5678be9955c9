package testkit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/anabranch/anabranch/schemas"
)

// Marker is the topic that says of a broker: tests may delete what is here.
const Marker = "anabranch-tests-may-wipe-this-broker"

// claim makes sure that the broker is there to be wiped: it holds the marker, or
// nothing of the product's, and then it gets the marker.
func claim(ctx context.Context, admin *kadm.Client) error {
	topics, err := admin.ListTopics(ctx)
	if err != nil {
		return fmt.Errorf("list topics: %w", err)
	}
	if topics.Has(Marker) {
		return nil
	}
	if found := productTopics(topics.Names()); len(found) > 0 {
		return fmt.Errorf("it holds %v and no topic %s: create that topic if tests may delete these", found, Marker)
	}
	_, err = admin.CreateTopic(ctx, 1, -1, nil, Marker)
	if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
		return fmt.Errorf("create topic %s: %w", Marker, err)
	}
	return nil
}

// sweep asks for the deletion of all that is the product's and returns what it
// found. Deleting is asynchronous on a real broker, so the word for "gone" is a
// later sweep that finds nothing.
func sweep(ctx context.Context, admin *kadm.Client) ([]string, error) {
	topics, err := admin.ListTopics(ctx)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	groups, err := admin.ListGroups(ctx)
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	foundTopics, foundGroups := productTopics(topics.Names()), productGroups(groups.Groups())
	found := slices.Concat(foundTopics, foundGroups)
	if len(foundTopics) > 0 {
		if _, err := admin.DeleteTopics(ctx, foundTopics...); err != nil {
			return found, fmt.Errorf("delete topics: %w", err)
		}
	}
	if len(foundGroups) > 0 {
		return found, deleteGroups(ctx, admin, foundGroups)
	}
	return found, nil
}

// deleteGroups deletes groups whose members are gone but may still be counted.
func deleteGroups(ctx context.Context, admin *kadm.Client, names []string) error {
	described, err := admin.DescribeGroups(ctx, names...)
	if err != nil {
		return fmt.Errorf("describe groups: %w", err)
	}
	for _, group := range described {
		// A static member stays in its group when its client closes, until its
		// session times out; a group with members can't be deleted.
		static := staticMembers(group)
		if len(static) == 0 {
			continue
		}
		if _, err = admin.LeaveGroup(ctx, kadm.LeaveGroup(group.Group).InstanceIDs(static...)); err != nil {
			return fmt.Errorf("remove %v from group %s: %w", static, group.Group, err)
		}
	}
	deleted, err := admin.DeleteGroups(ctx, names...)
	if err != nil {
		return fmt.Errorf("delete groups: %w", err)
	}
	return deleted.Error()
}

func staticMembers(group kadm.DescribedGroup) []string {
	var ids []string
	for _, member := range group.Members {
		if member.InstanceID != nil {
			ids = append(ids, *member.InstanceID)
		}
	}
	return ids
}

func productTopics(names []string) []string {
	return keep(names, func(name string) bool {
		switch name {
		case schemas.TopicRawEvents, schemas.TopicDeadLetters, schemas.TopicRedriven, schemas.TopicSeen, schemas.TopicJournal, schemas.TopicWorkspace, schemas.TopicRegulations, schemas.TopicImports, schemas.TopicReplays,
			schemas.TopicPersonasInternal, schemas.TopicPersonasChangelog:
			return true
		case Marker:
			return false
		}
		// The second keep a stage's state, the third are what tests export under names of their own.
		return schemas.PrefixOf(name) != "" || strings.HasPrefix(name, schemas.OwnPrefix) || strings.HasPrefix(name, "shop.")
	})
}

func productGroups(names []string) []string {
	return keep(names, func(name string) bool { return strings.HasPrefix(name, schemas.OwnPrefix) })
}

func keep(names []string, wanted func(string) bool) []string {
	var kept []string
	for _, name := range names {
		if wanted(name) {
			kept = append(kept, name)
		}
	}
	return kept
}
