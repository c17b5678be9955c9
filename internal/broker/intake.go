package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// intakeEvery is how often it is looked how much of the intake is not read. What is written in between comes on top of
// the limit.
const intakeEvery = time.Second

// An intake is the topic through which everything comes in. What its readers have not read is never deleted, so there
// has to be an end to what is written: beyond a limit whoever writes is told to wait.
type intake struct {
	topic   string
	limit   int64
	readers func(string) []string
	log     *slog.Logger
	unread  prometheus.Gauge

	refusing bool // until a tenth of the limit is read
	behind   bool // from the first refusal until less than half of the limit is unread
	full     atomic.Pointer[error]
}

// newIntake returns the intake that the configuration names, of which nothing is unread yet.
func newIntake(cfg *Config, log *slog.Logger) *intake {
	in := &intake{
		topic: cfg.Intake, limit: cfg.MaxUnread, readers: cfg.Readers, log: log,
		unread: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anabranch_broker_unrouted_bytes",
			Help: "Bytes of raw-events on the embedded broker that are not routed. At anabranch_broker_unrouted_limit_bytes calls are answered 503.",
		}),
	}
	limit := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "anabranch_broker_unrouted_limit_bytes",
		Help: "BROKER_MAX_UNROUTED_BYTES of the embedded broker.",
	})
	limit.Set(float64(cfg.MaxUnread))
	if cfg.Registerer != nil {
		cfg.Registerer.MustRegister(in.unread, limit)
	}
	return in
}

// look measures how much of the intake is unread and judges it.
func (in *intake) look(ctx context.Context, client *kgo.Client, logDir string) error {
	if in.topic == "" || in.limit == 0 || in.readers == nil {
		return nil
	}
	bytes, err := in.measure(ctx, client, logDir)
	if err != nil {
		return err
	}
	in.unread.Set(float64(bytes))
	in.judge(bytes)
	return nil
}

// measure returns how many bytes of the intake its readers have not read.
func (in *intake) measure(ctx context.Context, client *kgo.Client, logDir string) (int64, error) {
	topic, err := topicOf(ctx, client, in.topic)
	if err != nil {
		return 0, err
	}
	reached, err := progressOf(ctx, client, topic, in.readers)
	if err != nil {
		return 0, err
	}
	var bytes int64
	for num, reach := range reached[in.topic] {
		segments, err := segmentsOf(partitionDir(logDir, in.topic, int(num)))
		if err != nil {
			continue // nothing was ever written to it, or the topic has just gone
		}
		bytes += unread(segments, reach)
	}
	return bytes, nil
}

// topicOf looks up a topic; none if it does not exist.
func topicOf(ctx context.Context, client *kgo.Client, name string) ([]kmsg.MetadataResponseTopic, error) {
	request := kmsg.NewPtrMetadataRequest()
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = &name
	request.Topics = append(request.Topics, asked)
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("look up topic %s: %w", name, err)
	}
	for _, topic := range response.Topics {
		switch err := kerr.ErrorForCode(topic.ErrorCode); {
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("look up topic %s: %w", name, err)
		}
	}
	return response.Topics, nil
}

// unread returns about how many bytes of a partition's segments lie between what is read and the end. The bytes of a
// segment that is read in part count as spread evenly over its offsets.
func unread(segments []segment, r reach) int64 {
	var bytes int64
	for i, s := range segments {
		next := r.end
		if i+1 < len(segments) {
			next = segments[i+1].base
		}
		switch {
		case next <= r.read || next <= s.base:
		case s.base >= r.read:
			bytes += s.size
		default:
			bytes += s.size * (next - r.read) / (next - s.base)
		}
	}
	return bytes
}

// judge begins to refuse at the limit, and ends when a tenth of it has been read: clients come back after a second. One
// import goes to and fro between the two, so the log is told once when that begins, and when half of it is read.
func (in *intake) judge(unread int64) {
	switch {
	case unread >= in.limit:
		in.refusing = true
	case unread < in.limit-in.limit/10:
		in.refusing = false
	}
	switch {
	case in.refusing && !in.behind:
		in.behind = true
		in.log.Warn("events arrive faster than they are routed: calls are answered 503 whenever the limit is reached, and no event is deleted",
			"topic", in.topic, "unrouted_bytes", unread, "limit_bytes", in.limit, "variable", "BROKER_MAX_UNROUTED_BYTES")
	case in.behind && unread < in.limit/2:
		in.behind = false
		in.log.Info("routing has caught up, all calls are accepted", "topic", in.topic, "unrouted_bytes", unread)
	}
	if !in.refusing {
		in.full.Store(nil)
		return
	}
	err := fmt.Errorf("%d bytes of %s are not routed yet, the limit is BROKER_MAX_UNROUTED_BYTES=%d", unread, in.topic, in.limit)
	in.full.Store(&err)
}

// Full returns nil while the intake has room for more, else why it has not: whoever writes to it has to wait, since what
// is not read is never deleted. It is about a second late.
func (b *Broker) Full() error {
	if err := b.intake.full.Load(); err != nil {
		return *err
	}
	return nil
}
