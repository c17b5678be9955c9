package regulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn"
	"github.com/anabranch/anabranch/schemas"
)

// abandonAfter is when brokers may end the transaction of a process that died,
// which holds up readers of the topics, unless the next run ends it before. It is
// longer than a step of a run may take to write. (Apache Kafka looks every ten seconds.)
const abandonAfter = 6 * time.Second

// ErrTakenOver means that another process has the regulation now.
var ErrTakenOver = errors.New("another process has taken the regulation over")

// Ledger writes regulations to the topic `regulations`, and what follows from them
// to other topics in the same transactions.
type Ledger struct {
	// Kafka holds what every client of the process shares.
	Kafka []kgo.Opt
	// TransactionalID begins the transactional ids, one for each regulation. It is
	// the same in all processes that share the brokers: the id is what keeps two of
	// them from carrying out one regulation.
	TransactionalID string
	// Register has what the topic says. It may be nil where no keys are in use.
	Register *Register

	mu sync.Mutex // held by who has the suppressions; see sole
}

// Create stores a regulation with the ids of its users, all or nothing, and
// returns when the brokers have it. After an error it may be stored all the
// same, when the answer to the commit was lost.
func (l *Ledger) Create(ctx context.Context, r Regulation, users []string) error {
	if r.Type == Unsuppress && l.Keyed() {
		return l.unsuppress(ctx, r, users)
	}
	records, err := creation(&r, users, l.suppressed())
	if err != nil {
		return err
	}
	w, err := l.open(ctx, r.ID)
	if err != nil {
		return err
	}
	defer w.Close()
	return written(w.Write(ctx, records))
}

func (l *Ledger) suppressed() *Suppressed {
	if l.Register == nil {
		return nil
	}
	return &l.Register.Suppressed
}

// open returns a writer of one regulation once the transaction of a process that
// died is ended and another process that has it is fenced.
func (l *Ledger) open(ctx context.Context, id string) (*txn.Writer, error) {
	w, err := txn.Open(ctx, l.TransactionalID+"-"+id, abandonAfter,
		append(slices.Clip(l.Kafka), kgo.RecordPartitioner(partitioner{kgo.StickyKeyPartitioner(nil)}))...)
	if err != nil {
		return nil, fmt.Errorf("take regulation %s: %w", id, err)
	}
	return w, nil
}

// written names the error that callers act on.
func written(err error) error {
	if kafka.Fenced(err) {
		return fmt.Errorf("%w: %w", ErrTakenOver, err)
	}
	return err
}

// partitioner puts records of the topic `regulations` into its partition 0, whose
// order is the order of changes, and all others where their key belongs.
type partitioner struct{ kgo.Partitioner }

func (p partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	if topic == schemas.TopicRegulations {
		return kgo.ManualPartitioner().ForTopic(topic)
	}
	return p.Partitioner.ForTopic(topic)
}
