package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/internal/workspace/wswatch"
	"github.com/anabranch/anabranch/schemas"
)

// preparation is the service that makes the ground ready for the stages: a
// broker that answers, the topics of fixed name, and with `run` the workspace.
// It then has nothing more to do and waits for the stop.
type preparation struct {
	p    *plumbing
	file *workspace.Snapshot // of WORKSPACE_FILE; nil without one
	done atomic.Bool
}

// Name is the service's name in logs.
func (s *preparation) Name() string { return "preparation" }

// Ready returns nil once the stages may start.
func (s *preparation) Ready() error {
	if !s.done.Load() {
		return errors.New("waiting for the brokers and their topics")
	}
	return nil
}

// Run prepares and waits for ctx to end. Interrupted while it still prepares it
// has nothing to say but that.
func (s *preparation) Run(ctx context.Context) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	s.done.Store(true)
	<-ctx.Done()
	return nil
}

func (s *preparation) prepare(ctx context.Context) error {
	if err := kafka.Await(ctx, s.p.kafka, s.p.brokers.Brokers, s.p.log); err != nil {
		return err
	}
	if err := s.recognise(ctx); err != nil {
		return err
	}
	if err := s.p.topics.Ensure(ctx, s.p.running.Fixed()...); err != nil {
		return fmt.Errorf("prepare topics: %w", err)
	}
	publisher := s.p.publisher()
	publisher.By = byFile(s.p.cfg.WorkspaceFile)
	var err error
	switch {
	case s.file != nil:
		_, err = publisher.Apply(ctx, s.file)
	case s.p.receiverPort != nil:
		_, err = publisher.Seed(ctx, workspace.Example(s.p.receiverURL()))
	}
	return err
}

// recognise has topics made for the brokers that there are. Somebody who found the
// address of an embedded broker may take it for a Kafka.
func (s *preparation) recognise(ctx context.Context) error {
	embedded, err := s.p.topics.Recognise(ctx)
	if err != nil {
		return err
	}
	if embedded && s.p.broker == nil {
		s.p.log.Warn("KAFKA_BROKERS names the embedded broker of another process, which is for trying things out: "+
			"it is one process with one copy of the data, and a kill of it may double what a stage elsewhere has in a transaction",
			"brokers", s.p.brokers.Brokers)
	}
	if embedded && s.file != nil {
		if _, err = s.file.Crowded(true); err != nil {
			return fmt.Errorf("WORKSPACE_FILE=%s: %w", s.p.cfg.WorkspaceFile, err)
		}
	}
	return nil
}

// publisher writes workspaces to the topic.
func (p *plumbing) publisher() *wstopic.Publisher {
	return &wstopic.Publisher{Kafka: p.options("workspace"), Keys: p.cfg.Keys(), Ensure: p.ensure}
}

// byFile is who applies the file that a process keeps in force.
func byFile(file string) string {
	host, err := os.Hostname()
	if err != nil {
		return "WORKSPACE_FILE " + file
	}
	return "WORKSPACE_FILE " + file + " on " + host
}

// ensure creates topics that are missing, and says of many how far it is.
func (p *plumbing) ensure(ctx context.Context, exports map[string]schemas.Export, topics ...string) error {
	return p.topics.For(exports).EnsureInSteps(ctx, func(done, total int) {
		p.log.Info("creating the destinations' topics", "done", done, "total", total)
	}, topics...)
}

// watcher keeps WORKSPACE_FILE in force after its first application.
func (r *run) watcher(p *plumbing) *wswatch.Watcher {
	publisher := p.publisher()
	publisher.By = byFile(r.Config.WorkspaceFile)
	return wswatch.New(wswatch.Settings{
		Logger:     p.log,
		Registerer: p.registry,
		File:       r.Config.WorkspaceFile,
		Lookup:     wsfile.SystemLookup(),
		Apply: func(ctx context.Context, next *workspace.Snapshot) error {
			if err := r.admit(next, p.topics.Embedded()); err != nil {
				return err
			}
			changes, err := publisher.Apply(ctx, next)
			for _, c := range changes {
				p.log.Info("workspace changed", "change", c.String(), "left", c.Left)
			}
			return err
		},
	})
}
