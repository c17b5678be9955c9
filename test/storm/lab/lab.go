package lab

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/load"
)

// Silent is the log of the bench's own clients: what happens to them is planned.
var Silent = slog.New(slog.DiscardHandler)

const (
	// Source is the id of the one source of events.
	Source = "storm"
	// WriteKey is its write key.
	WriteKey = "wk_storm"
)

// retryDelays are short, so that what a fault left behind comes back while the
// row is watched. Each is a topic.
const retryDelays = "1s,2s,5s,10s"

// Lab is what one row works with.
type Lab struct {
	Rand  *rand.Rand // of the fault plan
	Books *books.Books
	// Brokers are the addresses of the brokers, Broker what holds them up, nil when
	// that can't be done; Kafka are the options to reach them with.
	Brokers string
	Broker  Holder
	Kafka   []kgo.Opt
	// Writer writes events straight onto topics.
	Writer *load.Writer
	// Dir is the directory of the row's files.
	Dir string

	password  schemas.Secret // of an embedded broker in a process of its own; else empty
	bench     *Bench
	row       string
	topics    *topics.Admin
	counts    []string // of partitions, as settings of the stages
	workspace []workspace.Destination
	// definitions are sections of the workspace's file about audiences and traits.
	definitions string
	straight    bool // events are written onto the topics of destinations: there are no calls
	processes   []*child.Process
	cleanup     []func(context.Context)

	began       time.Time
	longestExit time.Duration
	exited      string // which process took that, and when
	hiccups     hiccups
}

// Old is the path of a binary of the version before.
func (l *Lab) Old() string { return l.bench.Old }

// Began is when the row did.
func (l *Lab) Began() time.Time { return l.began }

// SDKs is the path of the cache of SDKs that are to take part; empty: none.
func (l *Lab) SDKs() string { return l.bench.SDKs }

func newLab(b *Bench, row, dir string) *Lab {
	return &Lab{Rand: chance(b.Seed, row), Books: books.New(fmt.Sprintf("s%d-%s", b.Seed, row)), Dir: dir, bench: b, row: row, began: time.Now()}
}

// close ends all that the row has started, the last first, also when ctx has
// ended.
func (l *Lab) close(ctx context.Context) {
	for _, p := range l.processes {
		p.Discard()
	}
	for _, undo := range slices.Backward(l.cleanup) {
		undo(context.WithoutCancel(ctx))
	}
}

// OnClose has something done when the row is over.
func (l *Lab) OnClose(do func()) {
	l.cleanup = append(l.cleanup, func(context.Context) { do() })
}

// usualPartitions is the product's default, which most rows leave as it is.
const usualPartitions = 6

// Open gives the lab its broker. Destinations' topics get so many partitions.
func (l *Lab) Open(ctx context.Context, partitions int) error {
	return l.open(ctx, usualPartitions, partitions)
}

// OpenWide is Open, but every topic gets so many partitions.
func (l *Lab) OpenWide(ctx context.Context, partitions int) error {
	return l.open(ctx, partitions, partitions)
}

func (l *Lab) open(ctx context.Context, common, deliver int) error {
	if err := l.findBroker(ctx); err != nil {
		return err
	}
	var err error
	brokers := kafka.Config{Brokers: strings.Split(l.Brokers, ",")}
	if l.password != "" {
		brokers = EmbeddedBroker(l.Brokers, l.password)
	}
	if l.Kafka, err = brokers.Options(Silent); err != nil {
		return err
	}
	if l.Writer, err = l.NewWriter(); err != nil {
		return err
	}
	cl := l.Writer.Client
	l.topics = topics.New(cl, policy.Config{
		Partitions: common, DeliverPartitions: deliver, Replication: -1, RawRetention: time.Hour, Embedded: !l.bench.foreign(),
	})
	l.counts = []string{fmt.Sprintf("TOPIC_PARTITIONS=%d", common), fmt.Sprintf("DELIVER_TOPIC_PARTITIONS=%d", deliver)}
	if l.bench.foreign() {
		l.tidy(ctx, cl, common != usualPartitions)
	}
	return l.topics.Ensure(ctx, schemas.TopicRawEvents, schemas.TopicDeadLetters)
}

// NewWriter returns another writer, with a client of its own: one that has written to a
// topic which was made anew does not take up the new one.
func (l *Lab) NewWriter() (*load.Writer, error) {
	// Room for the load of a minute in which the broker says nothing.
	cl, err := kgo.NewClient(append(slices.Clone(l.Kafka), kgo.MaxBufferedRecords(200_000), kgo.ProducerLinger(time.Millisecond))...)
	if err != nil {
		return nil, err
	}
	l.OnClose(cl.Close)
	return &load.Writer{Client: cl, Books: l.Books, Source: Source}, nil
}

// MakeAnew deletes a topic and creates it again.
func (l *Lab) MakeAnew(ctx context.Context, topic string) error {
	l.deleteTopics(ctx, l.Writer.Client, []string{topic})
	return l.topics.Ensure(ctx, topic)
}

func (l *Lab) findBroker(ctx context.Context) error {
	if !l.bench.foreign() {
		return l.startBroker(ctx)
	}
	l.Brokers = l.bench.Brokers
	if l.bench.BrokerPID == "" {
		return nil
	}
	f, err := findForeign(l.bench.BrokerPID)
	if err != nil {
		return err
	}
	if l.Broker = f; l.bench.BrokerStart != "" {
		l.Broker = l.findMortal(f)
	}
	return nil
}

// Destination adds a destination to the workspace, not yet in force, and returns
// the stream of its events. Its name is the row's own, so that a broker can serve
// run after run.
func (l *Lab) Destination(name string, keys int, urls ...string) *load.Stream {
	return l.add(name, schemas.DeliverTopic(l.ID(name)), keys, urls...)
}

// Routed is Destination, but its events go through raw-events and a router, which sends
// them to all destinations.
func (l *Lab) Routed(name string, keys int, urls ...string) *load.Stream {
	return l.add(name, schemas.TopicRawEvents, keys, urls...)
}

// Told is Destination for what personas tells, which nobody else makes.
func (l *Lab) Told(name, url string) {
	l.add(name, "", 0, url)
	l.workspace[len(l.workspace)-1].Sources = []string{definition.ReservedID}
}

func (l *Lab) add(name, topic string, keys int, urls ...string) *load.Stream {
	id := l.ID(name)
	endpoints := make([]workspace.Endpoint, len(urls))
	for i, u := range urls {
		endpoints[i] = workspace.Endpoint{URL: u}
	}
	l.workspace = append(l.workspace, workspace.Destination{
		ID: id, Type: workspace.TypeWebhooks, Name: name, Sources: []string{Source}, Enabled: true, Endpoints: endpoints,
	})
	return load.NewStream(l.Books.Run(), id, topic, keys)
}

// Archive adds a destination that is kept in a directory, in files of what a second brings,
// and returns the stream of its events, which go through raw-events and a router.
func (l *Lab) Archive(name string, keys int, directory string) *load.Stream {
	id := l.ID(name)
	l.workspace = append(l.workspace, workspace.Destination{
		ID: id, Type: workspace.TypeArchive, Name: name, Sources: []string{Source}, Enabled: true,
		Archive: &workspace.Archive{Directory: directory, MaxBytes: 1 << 20, MaxAge: time.Second},
	})
	return load.NewStream(l.Books.Run(), id, schemas.TopicRawEvents, keys)
}

// ID is the id of a destination of that name.
func (l *Lab) ID(name string) string { return fmt.Sprintf("s%d-%s-%s", l.bench.Seed, l.row, name) }

// Stage makes a process of one stage, not yet started.
func (l *Lab) Stage(target string, n int, env ...string) (*child.Process, error) {
	admin, err := child.FreeAddr()
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s-%d", target, n)
	p := &child.Process{
		Name: name, Path: l.bench.Binary, Args: []string{target}, Admin: admin, Log: filepath.Join(l.Dir, name+".log"),
		Env: slices.Concat(l.settings(), []string{"INSTANCE_ID=storm-" + name}, env),
	}
	l.processes = append(l.processes, p)
	return p, nil
}

// Adopt has a process that is no stage ended with the row.
func (l *Lab) Adopt(p *child.Process) { l.processes = append(l.processes, p) }

// Drain waits until nothing is open in the books, or for as long as bound says:
// what is open then counts as lost. It returns how long that took. Dead letters
// are looked up when deliveries alone do not settle it.
func (l *Lab) Drain(ctx context.Context, bound time.Duration) (time.Duration, error) {
	begun := time.Now()
	settled := func() bool { return l.Books.Tally(nil).Lost == 0 }
	if child.Until(ctx, bound, "the backlog to drain", settled) == nil {
		return time.Since(begun), nil
	}
	return time.Since(begun), load.ReadTopic(ctx, l.Kafka, schemas.TopicDeadLetters, l.Books.Dead)
}
