package app

import (
	"fmt"
	"path/filepath"

	"github.com/anabranch/anabranch/archive"
	"github.com/anabranch/anabranch/ingest"
	"github.com/anabranch/anabranch/internal/app/command"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/personas"
	"github.com/anabranch/anabranch/router"
	webhooksink "github.com/anabranch/anabranch/webhook-sink"
	"github.com/anabranch/anabranch/webhook-sink/testsend"
)

// TargetRun is the target that runs every stage in one process.
const TargetRun = "run"

// Stages is the list of stages.
func Stages() pipeline.List {
	return pipeline.List{ingest.Stage, router.Stage, personas.Stage, webhooksink.Stage, archive.Stage}
}

// stagesOf returns those of the stages that a target is made of.
func stagesOf(all pipeline.Stages, target string) (pipeline.Stages, error) {
	if target == TargetRun {
		return all, nil
	}
	for _, s := range all {
		if s.Name == target {
			return pipeline.Stages{s}, nil
		}
	}
	return nil, fmt.Errorf("unknown target %q: expected %s or one of %v", target, TargetRun, all.Names())
}

// makeStages makes those of the target.
func (p *plumbing) makeStages() error {
	for _, s := range p.running {
		made, err := s.New(p.process(s))
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		p.made = append(p.made, made)
	}
	return p.makeSender()
}

// makeSender makes what tests endpoints from the console, where a webhook sink runs: from
// elsewhere the way to them may be another one, and the secrets are not known.
func (p *plumbing) makeSender() (err error) {
	if sink := command.SinkConfig(p.running); sink != nil && p.cfg.Console && !p.cfg.ConsoleReadOnly {
		p.sender, err = testsend.New(*sink, p.receiverPeer()...)
	}
	return err
}

// process is what a stage is given.
func (p *plumbing) process(s *pipeline.Stage) *pipeline.Process {
	given := &pipeline.Process{
		Logger:       p.log.With("stage", s.Name),
		Registerer:   p.registry,
		Destinations: p.destinations,
		Workspace:    p.live,
		Unseal:       p.cfg.Keys().Open,
		Trace:        p.trace,
		Kafka:        p.options,
		Topics:       p.topics,
		Readers:      p.cfg.Stages.Readers,
		Register:     p.register,
		Files:        filepath.Join(p.cfg.DataDir, s.Name),
		Instance:     p.instance.transactional,
		Member:       p.instance.member(s.Name),
		Returns:      p.instance.returns,
		Journal:      p.cfg.Journal,
		Peers:        p.receiverPeer(),
	}
	if p.broker != nil {
		given.Boot, given.Full = p.broker.BootID(), p.broker.Full
		given.DataDir = filepath.Join(p.cfg.DataDir, s.Name)
	}
	return given
}
