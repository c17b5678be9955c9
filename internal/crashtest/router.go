package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/broker"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/schemas"
)

// killRouter kills `anabranch router` against a broker that lives on, which
// must leave each event exactly once on its destination's topic.
func killRouter(ctx context.Context, p plan, dir string) error {
	binary, err := build(ctx, dir)
	if err != nil {
		return err
	}
	brokers, closeBroker, err := p.broker(ctx, dir)
	if err != nil {
		return err
	}
	defer closeBroker()
	cl, destination, err := p.prepareTopics(ctx, brokers)
	if err != nil {
		return err
	}
	defer cl.Close()
	admin, err := freeAddr()
	if err != nil {
		return err
	}
	c := &child{binary: binary, target: "router", admin: admin, loud: p.verbose, env: []string{"KAFKA_BROKERS=" + brokers, "INSTANCE_ID=crash"}}
	if err := c.start(); err != nil {
		return err
	}
	defer func() { _ = c.cmd.Process.Kill() }()
	if err := c.ready(ctx); err != nil {
		return err
	}
	produced := newBooks()
	sending, enough := context.WithTimeout(ctx, p.duration)
	defer enough()
	sent := make(chan error, 1)
	go func() { sent <- p.produce(sending, cl, produced) }()
	if err := c.killOnSchedule(ctx, p); err != nil {
		return err
	}
	if err := <-sent; err != nil {
		return err
	}
	routed := newBooks()
	drained := until(ctx, time.Minute, "the router to catch up", func() bool {
		routed = newBooks()
		err := readTopic(ctx, brokers, schemas.DeliverTopic(destination), routed)
		return err == nil && len(produced.missing(routed)) == 0
	})
	if err := c.stop(); err != nil {
		return err
	}
	lost := produced.missing(routed)
	fmt.Printf("produced %d, routed %d, doubled %d, lost %d, kills %d\n", len(produced.ids()), len(routed.ids()), routed.doubled(), len(lost), c.kills)
	if routed.doubled() > 0 {
		return fmt.Errorf("%d events were routed twice", routed.doubled())
	}
	return verdict(p, c, len(produced.ids()), lost, drained)
}

// broker returns the addresses of the broker that lives on.
func (p plan) broker(ctx context.Context, dir string) (addrs string, stop func(), err error) {
	if p.brokers != "" {
		return p.brokers, func() {}, nil
	}
	b, err := broker.Open( //nolint:contextcheck // its life is that of Run
		broker.Config{DataDir: filepath.Join(dir, "broker"), Addr: "127.0.0.1:0"}, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", nil, err
	}
	running, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- service.Run(running, slog.New(slog.DiscardHandler), []service.Service{b}) }()
	return b.Addr(), func() {
		cancel()
		if err := <-done; err != nil {
			fmt.Fprintf(os.Stderr, "crashtest: stop the broker: %v\n", err)
		}
	}, nil
}

// prepareTopics applies a workspace with a destination of this run alone, so
// that the same broker can be used again.
func (p plan) prepareTopics(ctx context.Context, brokers string) (*kgo.Client, string, error) {
	opts, err := kafka.Config{Brokers: strings.Split(brokers, ",")}.Options(slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, "", err
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, "", err
	}
	topics := kafka.NewTopics(cl, kafka.TopicConfig{Partitions: 6, DeliverPartitions: 6, Replication: -1, RawRetention: time.Hour, Embedded: p.brokers == ""})
	if err = topics.Ensure(ctx, schemas.TopicRawEvents, schemas.TopicDeadLetters); err != nil {
		return nil, "", err
	}
	destination := fmt.Sprintf("crash-%d", p.seed)
	publisher := wstopic.Publisher{Kafka: opts, Ensure: topics.Ensure}
	_, err = publisher.Apply(ctx, workspace.NewSnapshot(
		[]workspace.Source{{ID: "crash", Name: "Crash", WriteKeyHash: workspace.HashWriteKey(writeKey), Enabled: true}},
		[]workspace.Destination{{
			ID: destination, Type: workspace.TypeWebhooks, Name: "Crash", Sources: []string{"crash"}, Enabled: true,
			Endpoints: []workspace.Endpoint{{URL: "http://127.0.0.1:1/"}},
		}},
	))
	return cl, destination, err
}

// produce writes events to raw-events at the plan's rate until ctx ends, and
// notes those that the broker acknowledged.
func (p plan) produce(ctx context.Context, cl *kgo.Client, produced *books) error {
	tick := time.NewTicker(time.Second / time.Duration(p.rate))
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		id := fmt.Sprintf("crash-%d-%d", p.seed, n)
		rec := &kgo.Record{Topic: schemas.TopicRawEvents, Key: fmt.Appendf(nil, "u%d", n%101), Value: fmt.Appendf(nil, `{"messageId":%q}`, id)}
		kafka.SetHeaders(rec, &schemas.Headers{Source: "crash", Type: schemas.TypeTrack, MessageID: id, Origin: schemas.OriginAPI})
		cl.Produce(context.WithoutCancel(ctx), rec, func(_ *kgo.Record, err error) {
			if err == nil {
				produced.note(id)
			}
		})
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	return cl.Flush(context.WithoutCancel(ctx))
}
