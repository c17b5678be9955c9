// Package ends keeps the backlog known of partitions that are not fetched, since they are
// paused, or have brought nothing since they are ours: it looks up where they end. And it
// notes which of all partitions stand still.
package ends

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/lag"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

const (
	// every is how often it is looked up where partitions end of which fetches do
	// not tell, and allAfter after how many times all are: fetches that fail tell
	// nothing, and look as if nothing came.
	every    = 5 * time.Second
	allAfter = 12
	// share bounds the part of the time that looks take, those at thousands of
	// partitions too.
	share    = 20
	lookTime = 5 * time.Second
)

// Options are what a Watch is made of.
type Options struct {
	Topics      *topics.Admin
	Group       string
	Dispatcher  *dispatch.Dispatcher
	Standstills *lag.Standstills
	Logger      *slog.Logger
}

// Watch is a look at the ends, again and again.
type Watch struct{ Options }

// New returns a Watch that has not looked yet.
func New(o Options) *Watch { return &Watch{o} }

// Run looks until ctx ends. It runs beside all else, and nothing waits for it.
func (w *Watch) Run(ctx context.Context) {
	for round, pause := 0, time.Second; waiting.Sleep(ctx, pause); round++ {
		began := time.Now()
		all := w.Dispatcher.Progress()
		w.note(all)
		var err error
		if round%allAfter == allAfter-1 {
			err = w.lookAtAll(ctx, topicsOf(all))
		} else {
			_, err = w.look(ctx, topicsOf(slices.DeleteFunc(all, func(p partition.Progress) bool { return p.Watched })))
		}
		if err != nil {
			w.Logger.Debug("reading the ends of topics failed, reporting the previous lag", "error", err)
		}
		pause = max(every, share*time.Since(began))
	}
}

// note keeps how far partitions were read, and which of them are held on purpose.
func (w *Watch) note(all []partition.Progress) {
	var positions []lag.Position
	for _, p := range all {
		if p.Noticed {
			positions = append(positions, lag.Position{Partition: p.Place, Next: p.Next, Held: p.Held})
		}
	}
	w.Standstills.Look(positions)
}

func (w *Watch) look(ctx context.Context, names []string) (map[string]map[int32]groups.Lag, error) {
	if len(names) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	lags, err := groups.Lags(ctx, w.Topics.Client, w.Group, names...)
	if err != nil {
		return nil, err
	}
	for topic, partitions := range lags {
		for num, lag := range partitions {
			w.Dispatcher.Look(partition.Place{Topic: topic, Num: num}, lag.Committed, lag.End)
		}
	}
	return lags, nil
}

// lookAtAll also looks where logs end: those of partitions that bring nothing although
// they go on.
func (w *Watch) lookAtAll(ctx context.Context, names []string) error {
	lags, err := w.look(ctx, names)
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	logs, noEnds := w.Topics.Ends(ctx, names...)
	err = errors.Join(err, noEnds)
	w.Standstills.Seen(lags, logs, err, w.Logger)
	return err
}

func topicsOf(all []partition.Progress) []string {
	names := make(map[string]bool)
	for _, p := range all {
		names[p.Topic] = true
	}
	return slices.Collect(maps.Keys(names))
}
