package topics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/schemas"
)

// Admin creates, lists and checks topics.
type Admin struct {
	*kafka.Topics // questions about transactions, positions and leaders

	// Client is what it speaks to the brokers through; other questions about topics
	// and groups go the same way.
	Client *kgo.Client

	admin  *kadm.Client
	config policy.Config
}

// New speaks to the brokers through the given client, which stays the
// caller's to close.
func New(cl *kgo.Client, config policy.Config) *Admin {
	return &Admin{Topics: kafka.NewTopics(cl), Client: cl, admin: kadm.NewClient(cl), config: config}
}

// For returns one that knows the topics that a workspace wants others to read.
func (t *Admin) For(exports map[string]schemas.Export) *Admin {
	knowing := *t
	knowing.config.Exports = exports
	return &knowing
}

// Recognise asks the brokers whether they are an embedded one, which has policies of
// its own, and goes by the answer from then on. It must have returned before anything
// else is asked of t at the same time.
func (t *Admin) Recognise(ctx context.Context) (embedded bool, err error) {
	embedded, err = kafka.Embedded(ctx, t.Client)
	t.config.Embedded = t.config.Embedded || embedded
	return embedded, err
}

// Embedded tells whether the brokers are an embedded one, by the settings or by what
// [Admin.Recognise] was told.
func (t *Admin) Embedded() bool { return t.config.Embedded }

// visiblePause is between two looks for topics that were created.
const visiblePause = 20 * time.Millisecond

// Ensure creates those of the named topics that do not exist and returns when
// all of them are visible with a leader, so that a producer that hears of a
// topic afterwards never meets "unknown topic".
func (t *Admin) Ensure(ctx context.Context, names ...string) error {
	names = slices.Compact(slices.Sorted(slices.Values(names))) // brokers refuse a request that names one twice
	for {
		missing, err := t.missing(ctx, names)
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			return nil
		}
		if err := t.createAll(ctx, missing); err != nil {
			return err
		}
		// A created topic shows up once its metadata has spread over the
		// cluster; the next look is what tells.
		if !waiting.Sleep(ctx, visiblePause) {
			return fmt.Errorf("wait for topics %s to be visible: %w", strings.Join(missing, ", "), context.Cause(ctx))
		}
	}
}

func (t *Admin) missing(ctx context.Context, names []string) ([]string, error) {
	details, err := t.admin.ListTopics(ctx, names...)
	switch {
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return nil, fmt.Errorf("see topics %s: %w", strings.Join(t.hidden(ctx, names), ", "), unseen(err))
	case err != nil:
		return nil, fmt.Errorf("list topics: %w", err)
	}
	var missing []string
	for _, name := range names {
		if !visible(details[name]) {
			missing = append(missing, name)
		}
	}
	return missing, nil
}

func visible(d kadm.TopicDetail) bool {
	if d.Err != nil || len(d.Partitions) == 0 {
		return false
	}
	for _, p := range d.Partitions {
		if p.Leader < 0 {
			return false
		}
	}
	return true
}

// ID returns the id of a topic, which tells it from those that bore its name before;
// empty where the brokers do not say.
func (t *Admin) ID(ctx context.Context, topic string) (string, error) {
	details, err := t.admin.ListTopics(ctx, topic)
	if err != nil {
		return "", fmt.Errorf("look up topic %s: %w", topic, err)
	}
	if id := details[topic].ID; id != (kadm.TopicID{}) {
		return id.String(), nil
	}
	return "", nil
}

// List returns the names of the existing topics that begin with prefix, sorted.
func (t *Admin) List(ctx context.Context, prefix string) ([]string, error) {
	details, err := t.admin.ListTopics(ctx)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	var names []string
	for _, name := range details.Names() {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Partitions returns how many partitions the named topics have together. Topics
// that do not exist have none.
func (t *Admin) Partitions(ctx context.Context, names ...string) (int, error) {
	details, err := t.admin.ListTopics(ctx, names...)
	if err != nil {
		return 0, fmt.Errorf("look up topics %v: %w", names, err)
	}
	count := 0
	for _, d := range details {
		count += len(d.Partitions)
	}
	return count, nil
}

// Counts returns how many partitions each topic has that the principal may see.
func (t *Admin) Counts(ctx context.Context) (map[string]int, error) {
	details, err := t.admin.ListTopics(ctx)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	counts := make(map[string]int, len(details))
	for name, d := range details {
		counts[name] = len(d.Partitions)
	}
	return counts, nil
}
