package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// A broker that refuses connections is known to be down after two probes,
	// within a second, and one that swallows requests after two timeouts, within
	// 1.7 s: clients are to have their 503 within two seconds.
	probeEvery   = 500 * time.Millisecond
	probeTimeout = 600 * time.Millisecond
	// patientTimeout is for probes while the brokers are lost anyway: a dial with
	// TLS and SASL over a long way must be able to end.
	patientTimeout = 3 * time.Second
	// ensureTimeout is for the creation of the topics, once.
	ensureTimeout = 10 * time.Second
)

// Watch asks the brokers for signs of life until ctx ends, and creates the topics
// should they be missing: Ready and Put go by what it finds, so it has to run for
// as long as they are called. It is called once.
func (s *Store) Watch(ctx context.Context) {
	p := prober{Store: s}
	p.run(ctx)
}

// prober is a store that is watched.
type prober struct {
	*Store
	ensured bool // the topics were there
	outage  logging.Sampler[string]
}

// run probes until ctx ends. The link is up only once the topics are there to be
// written to.
func (p *prober) run(ctx context.Context) {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		err := p.probe(ctx)
		if ctx.Err() != nil {
			return
		}
		p.say(p.link.report(err), err)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (p *prober) probe(ctx context.Context) error {
	timeout := probeTimeout
	if p.Ready() != nil {
		timeout = patientTimeout
	}
	if err := anyAnswer(ctx, p.client.Client(), timeout); err != nil {
		return err
	}
	if p.gone.Swap(false) {
		p.ensured = false
		if err := p.client.Replace(p.client.Client()); err != nil { //nolint:contextcheck // the old client outlives the probe
			return err
		}
	}
	return p.ensure(ctx)
}

func (p *prober) ensure(ctx context.Context) error {
	if p.ensured {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, ensureTimeout)
	defer cancel()
	if err := p.topics.Ensure(ctx, schemas.TopicRawEvents, schemas.TopicDeadLetters); err != nil {
		return fmt.Errorf("ensure topics %s and %s: %w", schemas.TopicRawEvents, schemas.TopicDeadLetters, err)
	}
	p.ensured = true
	return nil
}

// say logs each change of the link, and an outage that lasts now and then.
func (p *prober) say(changed bool, err error) {
	switch {
	case changed && err == nil:
		p.log.Info("brokers answer, calls are accepted")
		p.outage.Forget()
	case err != nil && p.Ready() != nil:
		if _, ok := p.outage.Admit("", time.Now()); ok {
			p.log.Warn("brokers do not answer, calls are refused with 503 until they do",
				"brokers", p.client.Client().OptValue(kgo.SeedBrokers), "variable", "KAFKA_BROKERS", "error", err)
		}
	}
}

// anyAnswer returns nil when at least one broker has answered within timeout,
// else what one of them failed with. It asks all of them at the same time:
// kgo's Ping asks one after the other, and a single broker that swallows
// requests would use up the time of all.
func anyAnswer(ctx context.Context, client *kgo.Client, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	brokers := append(client.DiscoveredBrokers(), client.SeedBrokers()...)
	errs := make([]error, len(brokers))
	var asked sync.WaitGroup
	for i, broker := range brokers {
		asked.Go(func() {
			request := kmsg.NewPtrMetadataRequest()
			request.Topics = []kmsg.MetadataRequestTopic{} // none; nil would be all
			_, errs[i] = broker.Request(ctx, request)
		})
	}
	asked.Wait()
	var failure error
	for _, err := range errs {
		if err == nil {
			return nil
		}
		failure = err
	}
	return failure
}
