// Package group keeps marks of partitions in a consumer group.
//
// # Non-obvious
//
//   - What is done about a commit depends on what is known of it: one that was refused is
//     sent again, and one that was not answered may count yet, behind a later one. The client
//     sends such a commit again by itself, so commits are requests of our own to the group's
//     coordinator, each sent once (TestACommitThatIsNotAnswered).
//   - Groups keep offsets under the names of topics. A commit names the topic by its id too,
//     where brokers know that, and says the id in its metadata for whoever reads it.
package group

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/archive/internal/cut"
	"github.com/anabranch/anabranch/internal/kafka"
)

const (
	// sessionTimeout is for how long the partitions of a killed process rest.
	sessionTimeout   = 8 * time.Second
	rebalanceTimeout = 15 * time.Second
	heartbeat        = time.Second
)

// Join returns the options with which a client joins a group.
func Join(name string) []kgo.Opt {
	return []kgo.Opt{
		kgo.ConsumerGroup(name),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.SessionTimeout(sessionTimeout),
		kgo.RebalanceTimeout(rebalanceTimeout),
		kgo.HeartbeatInterval(heartbeat),
		kgo.DisableAutoCommit(),
	}
}

// What is known of a commit that was not made.
var (
	// ErrUnknown is of a commit that may have been made, or may be yet. Only a new generation
	// of the group tells.
	ErrUnknown = errors.New("nobody knows whether it was made")
	// ErrGone is of one for a topic that was deleted, or is another one by now.
	ErrGone = errors.New("the topic is gone")
)

// Member commits for one membership of a client in a group. It may be used by many
// goroutines.
type Member struct {
	client *kgo.Client
	group  string

	mu          sync.Mutex
	coordinator int32 // -1: not known
}

// New returns a Member.
func New(client *kgo.Client, group string) *Member {
	return &Member{client: client, group: group, coordinator: -1}
}

// Identity is what the group knows a member by.
type Identity struct {
	id         string
	generation int32
}

// Identity returns that of now. Whoever commits asks for it first, and then whether the
// partition is still its own: the group refuses what comes of a generation that is over.
func (m *Member) Identity() Identity {
	id, generation := m.client.GroupMetadata()
	return Identity{id, generation}
}

// commitTime bounds a commit.
const commitTime = 10 * time.Second

// Commit commits the mark of a partition, once. An error that is neither [ErrUnknown] nor
// [ErrGone] says that it was not made, and will not be.
func (m *Member) Commit(ctx context.Context, by Identity, at kafka.Partition, topic cut.TopicID, mark cut.Mark) error {
	ctx, cancel := context.WithTimeout(ctx, commitTime)
	defer cancel()
	coordinator, err := m.find(ctx)
	if err != nil {
		return err
	}
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.Metadata = at.Num, mark.From, new(mark.Metadata(topic))
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic, t.TopicID, t.Partitions = at.Topic, topic, []kmsg.OffsetCommitRequestTopicPartition{p}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation = m.group, by.id, by.generation
	req.Topics = []kmsg.OffsetCommitRequestTopic{t}
	resp, err := m.client.Broker(int(coordinator)).Request(ctx, req)
	if err != nil {
		m.forget()
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return m.read(resp)
}

func (m *Member) read(resp kmsg.Response) error {
	answer, ok := resp.(*kmsg.OffsetCommitResponse)
	if !ok || len(answer.Topics) != 1 || len(answer.Topics[0].Partitions) != 1 {
		return fmt.Errorf("%w: the answer is not about one partition", ErrUnknown)
	}
	switch err := kerr.ErrorForCode(answer.Topics[0].Partitions[0].ErrorCode); {
	case err == nil:
		return nil
	case errors.Is(err, kerr.RequestTimedOut), errors.Is(err, kerr.UnknownServerError):
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	case errors.Is(err, kerr.UnknownTopicID), errors.Is(err, kerr.UnknownTopicOrPartition):
		return fmt.Errorf("%w: %w", ErrGone, err)
	default:
		m.forget()
		return err
	}
}

// find returns the group's coordinator.
func (m *Member) find(ctx context.Context) (int32, error) {
	m.mu.Lock()
	known := m.coordinator
	m.mu.Unlock()
	if known >= 0 {
		return known, nil
	}
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey, req.CoordinatorKeys = m.group, []string{m.group}
	resp, err := req.RequestWith(ctx, m.client)
	if err != nil {
		return 0, fmt.Errorf("find the coordinator of group %s: %w", m.group, err)
	}
	code, node := resp.ErrorCode, resp.NodeID
	if len(resp.Coordinators) == 1 { // as of version 4
		code, node = resp.Coordinators[0].ErrorCode, resp.Coordinators[0].NodeID
	}
	if err = kerr.ErrorForCode(code); err != nil {
		return 0, fmt.Errorf("find the coordinator of group %s: %w", m.group, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.coordinator = node
	return node, nil
}

func (m *Member) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.coordinator = -1
}

// IDs returns the ids of topics; those that do not exist are left out.
func IDs(ctx context.Context, client *kgo.Client, topics ...string) (map[string]cut.TopicID, error) {
	req := kmsg.NewPtrMetadataRequest()
	for _, name := range slices.Compact(slices.Sorted(slices.Values(topics))) {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		req.Topics = append(req.Topics, t)
	}
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("look up topics: %w", err)
	}
	ids := make(map[string]cut.TopicID, len(resp.Topics))
	for i := range resp.Topics {
		if t := &resp.Topics[i]; t.Topic != nil && t.ErrorCode == 0 {
			ids[*t.Topic] = t.TopicID
		}
	}
	return ids, nil
}
