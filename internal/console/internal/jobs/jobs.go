// Package jobs runs in the background what people have begun from a page: it goes on while
// nobody looks, tells how far it is, and can be cancelled. It is the work of this process,
// and ends with it.
package jobs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// most is how many jobs are remembered, those under way among them.
const most = 100

// Job is one piece of work, as it is at a moment.
type Job struct {
	ID     string
	Kind   string // a word: of each kind one runs at a time
	What   string // for people
	By     string // who began it
	Began  time.Time
	Ended  time.Time // zero: it is under way
	Said   string    // how far it is
	Result string    // what came of it, maybe over several lines
	Err    error     // why it ended before its end; nil: it did not
	// Shows is what a page of the job's own shows of what came of it; nil: there is none.
	Shows any
	// Cancelled is who told it to end; empty: nobody.
	Cancelled string

	cancel context.CancelFunc
}

// Running reports whether the job is under way.
func (j *Job) Running() bool { return j.Ended.IsZero() }

// Do does the work, and returns what came of it. What say is told is shown to those who look.
// It returns soon after ctx has ended.
type Do func(ctx context.Context, say func(string)) (result string, err error)

// ErrStopping says that the process ends.
var ErrStopping = errors.New("the process is stopping")

// Jobs are the jobs of a process. Make them with [New].
type Jobs struct {
	log     *slog.Logger
	running sync.WaitGroup

	mu     sync.Mutex
	all    []*Job // the oldest first
	closed bool
}

// New returns no jobs yet. Their beginnings and ends go to log.
func New(log *slog.Logger) *Jobs { return &Jobs{log: log} }

// Start begins a job. Of each kind one runs at a time: the error names the one that does. The
// end of ctx is not that of the job.
func (j *Jobs) Start(ctx context.Context, begun Job, do Do) (id string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return "", ErrStopping
	}
	for _, other := range j.all {
		if other.Kind == begun.Kind && other.Running() {
			return "", fmt.Errorf("%s, begun by %s, is under way: wait for its end, or cancel it", other.What, other.By)
		}
	}
	if len(j.all) >= most {
		j.forget()
	}
	job := &begun
	job.ID, job.Began = strings.ToLower(rand.Text()), time.Now()
	ctx, job.cancel = context.WithCancel(context.WithoutCancel(ctx))
	j.all = append(j.all, job)
	j.log.Info("console: begun", "what", job.What, "person", job.By)
	j.running.Go(func() {
		result, err := do(ctx, func(text string) {
			j.mu.Lock()
			defer j.mu.Unlock()
			job.Said = text
		})
		j.end(job, result, err)
	})
	return job.ID, nil
}

// forget removes the oldest job that has ended.
func (j *Jobs) forget() {
	if i := slices.IndexFunc(j.all, func(one *Job) bool { return !one.Running() }); i >= 0 {
		j.all = slices.Delete(j.all, i, i+1)
	}
}

func (j *Jobs) end(job *Job, result string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	job.cancel()
	job.Ended, job.Result, job.Err = time.Now(), result, err
	if err != nil {
		j.log.Warn("console: ended early", "what", job.What, "person", job.By, "cancelled_by", job.Cancelled, "error", err)
		return
	}
	j.log.Info("console: done", "what", job.What, "person", job.By, "took", job.Ended.Sub(job.Began))
}

// All are the jobs that are remembered, the latest first.
func (j *Jobs) All() []Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make([]Job, len(j.all))
	for i, one := range j.all {
		all[len(all)-1-i] = *one
	}
	return all
}

// Get returns one job.
func (j *Jobs) Get(id string) (Job, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, one := range j.all {
		if one.ID == id {
			return *one, true
		}
	}
	return Job{}, false
}

// Cancel tells a job to end, by the word of somebody; false where there is no such job. One
// that has ended stays as it is.
func (j *Jobs) Cancel(id, by string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, one := range j.all {
		if one.ID != id {
			continue
		}
		if one.Running() {
			one.Cancelled = by
			one.cancel()
			j.log.Info("console: cancelled", "what", one.What, "person", by)
		}
		return true
	}
	return false
}

// Close cancels all jobs, and returns when they have ended. No other begins.
func (j *Jobs) Close() {
	j.mu.Lock()
	j.closed = true
	for _, one := range j.all {
		one.cancel()
	}
	j.mu.Unlock()
	j.running.Wait()
}
