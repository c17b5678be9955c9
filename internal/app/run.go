package app

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/console"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
)

// run is a process that runs a target.
type run struct {
	settings.Process

	target string
}

// Run runs a target, TargetRun or the name of one stage, until ctx ends, and
// returns nil after an orderly stop. Everything it opened is closed by then, in
// the reverse order: the stages first, each finishing what it has in hand, the
// broker last.
func Run(ctx context.Context, target string, proc settings.Process) error {
	unknown := proc.Config.Unknown(proc.Environment)
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		proc.Log.Warn("unknown setting, `anabranch help config` lists all settings", "variable", name, "nearest", unknown[name])
	}
	r := &run{Process: proc, target: target}
	file, err := r.workspaceFile()
	if err != nil {
		return err
	}
	p, err := newPlumbing(proc.Config, target, proc.Log) //nolint:contextcheck // the broker's life is that of its Run
	if err != nil {
		return err
	}
	defer p.close()
	if err = r.listen(ctx, p); err != nil {
		return p.fail(err)
	}
	if err = p.makeStages(); err != nil {
		return p.fail(err)
	}
	if err = r.tell(p); err != nil {
		return p.fail(err)
	}
	said := context.AfterFunc(ctx, func() { proc.Log.Info("stopping: finishing the work in progress first") })
	defer said()
	return service.Run(ctx, proc.Log, r.tiers(p, file)...)
}

// tell says in DATA_DIR what this process runs with, for commands that are started
// without its environment.
func (r *run) tell(p *plumbing) error {
	if p.broker == nil {
		return nil
	}
	told := r.Config.Told(r.Environment)
	told["BROKER_ADDR"] = p.broker.Addr() // its port may be of the system's choice
	return p.broker.Tell(told)
}

// workspaceFile parses WORKSPACE_FILE before anything is started: a process
// that is told to apply a broken file says so and ends.
func (r *run) workspaceFile() (*workspace.Snapshot, error) {
	if r.watchedFile() == "" {
		return nil, nil
	}
	snapshot, err := wsfile.Load(r.Config.WorkspaceFile, wsfile.SystemLookup())
	if err != nil {
		return nil, fmt.Errorf("WORKSPACE_FILE=%s: %w", r.Config.WorkspaceFile, err)
	}
	if err := r.admit(snapshot, r.Config.Embedded()); err != nil {
		return nil, fmt.Errorf("WORKSPACE_FILE=%s: %w", r.Config.WorkspaceFile, err)
	}
	return snapshot, nil
}

// watchedFile is the workspace file that this process keeps in force; empty: none.
func (r *run) watchedFile() string {
	if r.target != TargetRun {
		return ""
	}
	return r.Config.WorkspaceFile
}

// admit refuses a workspace with more destinations than the embedded broker stands,
// and warns of one with more than were tried elsewhere.
func (r *run) admit(s *workspace.Snapshot, embedded bool) error {
	warning, err := s.Crowded(embedded)
	if warning != "" {
		r.Log.Warn("the workspace is larger than any that was measured", "reason", warning)
	}
	return err
}

// example reports whether the example workspace may be in force, whose
// destination is the built-in receiver.
func (r *run) example() bool {
	return r.target == TargetRun && r.Config.WorkspaceFile == ""
}

// listen binds the ports that are the app's own before anything is started, so
// that a port in use ends the process with one clear line. A stage binds its
// own when it is made.
func (r *run) listen(ctx context.Context, p *plumbing) (err error) {
	if p.adminPort, err = service.Listen(ctx, "ADMIN_ADDR", r.Config.AdminAddr); err != nil {
		return err
	}
	if r.example() {
		p.receiverPort, err = service.Listen(ctx, "RECEIVER_ADDR", r.Config.ReceiverAddr)
	}
	return err
}

// tiers puts the services into the order of their start. A broker outlives the
// stages that commit to it; a stage starts when the workspace has been read.
func (r *run) tiers(p *plumbing, file *workspace.Snapshot) [][]service.Service {
	var all []service.Service
	ready := func() error { return service.Readiness(all...) }
	telemetry.RegisterProcess(p.registry, version(), ready)
	admin := telemetry.Admin{Gatherer: p.registry, Ready: ready, Profiles: p.cfg.AdminPprof, Routes: p.routes()}
	first := []service.Service{&preparation{p: p, file: file}}
	if p.cfg.Console {
		pages := p.console(r.watchedFile())
		admin.Routes = append(admin.Routes, telemetry.Route{Page: console.Page(), Handler: pages.Handler()})
		first = append(first, pages) // what it has begun ends before the broker does
	}
	ground := []service.Service{service.NewHTTPServer("admin", p.adminPort, admin.Handler(), p.log)}
	if p.broker != nil {
		ground = append(ground, p.broker)
	}
	if p.trace != nil {
		ground = append(ground, p.trace)
	}
	top := p.services()
	if p.receiverPort != nil {
		top = append(top, r.receiver(p))
	}
	if file != nil {
		top = append(top, r.watcher(p))
	}
	tiers := [][]service.Service{
		ground,
		first,
		append(p.followers(), topics.NewWatcher(p.topics, p.registry, p.log)),
		top,
		{&greeting{greet: func() error { return r.greet(p) }}},
	}
	all = slices.Concat(tiers...)
	return tiers
}
