package app

import (
	"fmt"

	"github.com/anabranch/anabranch/ingest"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/router"
	"github.com/anabranch/anabranch/schemas"
	webhooksink "github.com/anabranch/anabranch/webhook-sink"
)

// TargetRun is the target that runs every stage in one process.
const TargetRun = "run"

// stage is one row of the table from a target's name to its constructor.
type stage struct {
	name string
	make func(*plumbing) (service.Service, error)
}

// stages lists the stages in the order in which an event passes through them.
func stages() []stage {
	return []stage{
		{"ingest", newIngest},
		{"router", newRouter},
		{"webhook-sink", newSink},
	}
}

// Targets returns the names that Run takes.
func Targets() []string {
	all := stages()
	names := append(make([]string, 0, 1+len(all)), TargetRun)
	for _, s := range all {
		names = append(names, s.name)
	}
	return names
}

// readers returns the groups that have to read a topic before anything of it may be
// deleted. Nobody has to read dead letters: those are kept for their time alone.
func readers(topic string) []string {
	_, deliver := schemas.DestinationOf(topic)
	_, retry := schemas.RetryDelayOf(topic)
	switch {
	case topic == schemas.TopicRawEvents:
		return []string{router.Group}
	case deliver, retry:
		return []string{webhooksink.Group}
	}
	return nil
}

// make constructs the stages of a target.
func (p *plumbing) stages(target string) ([]service.Service, error) {
	var made []service.Service
	for _, s := range stages() {
		if target != TargetRun && target != s.name {
			continue
		}
		built, err := s.make(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		made = append(made, built)
	}
	if len(made) == 0 {
		return nil, fmt.Errorf("unknown target %q: expected one of %v", target, Targets())
	}
	return made, nil
}

func newIngest(p *plumbing) (service.Service, error) {
	set := ingest.Settings{
		Logger:     p.log.With("stage", "ingest"),
		Registerer: p.registry,
		Workspace:  p.live,
		Trace:      p.trace,
		Suppressed: p.register.Suppressed.Has,
		Kafka:      p.options("ingest"),
		Topics:     p.topics,
	}
	if p.broker != nil {
		set.Full = p.broker.Full
	}
	in, err := ingest.New(p.cfg.Ingest, set)
	if err != nil {
		return nil, err
	}
	p.collect = in.Addr()
	p.regulations = ingest.NewRegulations(in, set, ingest.RegulationSettings{
		Register: p.register,
		Ledger:   &regulation.Ledger{Kafka: p.options("regulations"), TransactionalID: p.regulationID()},
	})
	return in, nil
}

// regulationID begins the transactional ids by which the ingest processes of a
// cluster keep one another from carrying out one regulation. The embedded broker
// has a single process, and bears no id that was there before its start.
func (p *plumbing) regulationID() string {
	const id = "anabranch-regulation"
	if p.broker != nil {
		return id + "-" + p.broker.BootID()
	}
	return id
}

func newRouter(p *plumbing) (service.Service, error) {
	return router.New(p.cfg.Router, router.Settings{
		Logger:          p.log.With("stage", "router"),
		Registerer:      p.registry,
		Destinations:    p.destinations,
		Workspace:       p.live,
		Trace:           p.trace,
		Kafka:           p.options("router"),
		Topics:          p.topics,
		TransactionalID: "anabranch-router-" + p.instance.transactional,
		InstanceID:      p.instance.member("router"),
		Returns:         p.instance.returns,
	})
}

func newSink(p *plumbing) (service.Service, error) {
	return webhooksink.New(p.cfg.Sink, webhooksink.Settings{
		Logger:       p.log.With("stage", "webhook-sink"),
		Registerer:   p.registry,
		Destinations: p.destinations,
		Workspace:    p.live,
		Trace:        p.trace,
		Kafka:        p.options("webhook-sink"),
		Topics:       p.topics,
		InstanceID:   p.instance.member("webhook-sink"),
		Returns:      p.instance.returns,
		Peers:        p.receiverPeer(),
	})
}
