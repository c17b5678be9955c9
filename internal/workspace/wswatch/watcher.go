package wswatch

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wsfile"
)

// watchEvery is the pause between two looks at the file. Looking is preferred
// to being notified: it also sees what happens behind mounts and links.
const watchEvery = time.Second

// Settings are what a [Watcher] works with.
type Settings struct {
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	File       string        // the workspace file
	Lookup     wsfile.Lookup // how it is read, and its secrets

	// Apply puts a snapshot in force. It is called from one goroutine, again
	// each second for as long as it returns an error.
	Apply func(ctx context.Context, next *workspace.Snapshot) error
}

// Watcher is the service that applies a workspace file each time that it or a
// secret file named in it changes, the first time soon after it is run. A file
// that is missing or has problems changes nothing that is in force, and is
// logged once.
//
// Editors truncate files and write them in place, and half of a workspace may
// well be a valid one. So nothing is done about what the file says before it
// was found the same in two looks, a second apart.
type Watcher struct {
	set     Settings
	log     *slog.Logger
	metrics *metrics
	scout   *scout

	seen     digest // in the last look
	applied  digest // what is in force
	reported string // the problems logged last
	trouble  logging.Sampler[string]
}

// New returns a watcher, to be run once. The registerer must not know
// another one.
func New(set Settings) *Watcher {
	return &Watcher{
		set:     set,
		log:     set.Logger.With("file", set.File),
		metrics: newMetrics(set.Registerer),
		scout:   &scout{file: set.File, lookup: set.Lookup},
	}
}

// Name returns the service's name in logs.
func (w *Watcher) Name() string { return "workspace-file" }

// Run watches the file until ctx ends and then returns nil.
func (w *Watcher) Run(ctx context.Context) error {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		w.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// look acts on what the file says once that is settled and not in force yet.
func (w *Watcher) look(ctx context.Context) {
	found := w.scout.look()
	settled := found.digest == w.seen
	w.seen = found.digest
	switch {
	case !settled:
	case found.digest == w.applied:
		w.mended()
	case found.err != nil:
		w.refuse(found.err)
	default:
		w.apply(ctx, found)
	}
}

// mended says that a file that was refused is again what is in force.
func (w *Watcher) mended() {
	if w.reported != "" {
		w.log.Info("workspace file matches the workspace in force again")
	}
	w.reported = ""
}

func (w *Watcher) refuse(err error) {
	if err.Error() == w.reported {
		return
	}
	w.reported = err.Error()
	w.metrics.refused.Inc()
	w.log.Error("workspace file refused, the last workspace stays in force", "error", err)
}

func (w *Watcher) apply(ctx context.Context, found finding) {
	w.reported = ""
	if err := w.set.Apply(ctx, found.snapshot); err != nil {
		w.metrics.failed.Inc()
		if _, ok := w.trouble.Admit(err.Error(), time.Now()); ok && ctx.Err() == nil {
			w.log.Error("workspace file could not be applied, retrying", "error", err)
		}
		return
	}
	w.applied = found.digest
	w.metrics.applied.Inc()
}
