package dispatch

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/queues"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

// floor is a dispatcher whose workers are a list: nothing ends until the test
// says so.
type floor struct {
	*Dispatcher

	t       testing.TB
	flying  []*Job
	paused  map[string]bool // topics, and partitions as topic[num]
	started []string        // message ids
	late    []float64       // seconds, of retries behind their due time
	sought  []*Reread       // parts that are to be read once more
}

const (
	shortest  = 5 * time.Second
	fetchWait = 250 * time.Millisecond
)

// delivered is the usual end of a job.
var delivered = outcome.Outcome{Verdict: outcome.Delivered, Took: 10 * time.Millisecond}

func newFloor(tb testing.TB, limits quota.Limits) *floor {
	tb.Helper()
	f := &floor{t: tb, paused: make(map[string]bool)}
	f.Dispatcher = New(Options{
		Limits: limits, Shortest: shortest, FetchWait: fetchWait,
		Flow: f.flowOf(), Gauges: f.gaugesOf(), Start: f.begun,
		Reread: func(r *Reread) { f.sought = append(f.sought, r) },
	})
	return f
}

func (f *floor) flowOf() Flow {
	set := func(name string, to bool) {
		if f.paused[name] == to { // under the mutex
			f.t.Errorf("%s paused: %t, twice", name, to)
		}
		f.paused[name] = to
	}
	return Flow{
		PauseTopic:      func(topic string) { set(topic, true) },
		ResumeTopic:     func(topic string) { set(topic, false) },
		PausePartition:  func(at partition.Place) { set(at.String(), true) },
		ResumePartition: func(at partition.Place) { set(at.String(), false) },
	}
}

func (f *floor) gaugesOf() Gauges {
	gauge := func() prometheus.Gauge { return prometheus.NewGauge(prometheus.GaugeOpts{Name: "g", Help: "G."}) }
	return Gauges{
		Gauges:   queues.Gauges{InFlight: gauge(), Queued: gauge(), Due: gauge()},
		Lateness: prometheus.ObserverFunc(func(late float64) { f.late = append(f.late, late) }),
	}
}

func (f *floor) begun(j *Job) {
	f.flying = append(f.flying, j)
	f.started = append(f.started, string(j.Record.Value))
}

// end finishes the i-th job in flight.
func (f *floor) end(i int) {
	f.endAs(i, delivered)
}

func (f *floor) endAs(i int, o outcome.Outcome) {
	f.mu.Lock() // timers start jobs under it
	j := f.flying[i]
	f.flying = slices.Delete(f.flying, i, i+1)
	f.mu.Unlock()
	if next := f.Done(j, o); next != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.begun(next)
	}
}

// finish finishes the job in flight of that name.
func (f *floor) finish(name string) {
	f.t.Helper()
	i := slices.IndexFunc(f.flying, func(j *Job) bool { return string(j.Record.Value) == name })
	if i < 0 {
		f.t.Fatalf("%s is not in flight", name)
	}
	f.end(i)
}

// finishAs finishes the job in flight of that name in a certain way.
func (f *floor) finishAs(name string, o outcome.Outcome) {
	f.t.Helper()
	i := slices.IndexFunc(f.flying, func(j *Job) bool { return string(j.Record.Value) == name })
	if i < 0 {
		f.t.Fatalf("%s is not in flight", name)
	}
	f.endAs(i, o)
}

func (f *floor) own(id string, partitions ...int32) {
	f.Assign(map[string][]int32{schemas.DeliverTopic(id): partitions}, nil)
}

// give hands over one record per name; the first letter is its key. Offsets are
// counted from at.
func (f *floor) give(id string, num int32, at int64, names ...string) {
	var jobs []*Job
	for i, name := range names {
		jobs = append(jobs, NewJob(&kgo.Record{
			Topic: schemas.DeliverTopic(id), Partition: num, Offset: at + int64(i),
			Key: []byte(name[:1]), Value: []byte(name),
		}))
	}
	f.Take(partition.Place{Topic: schemas.DeliverTopic(id), Num: num}, jobs)
}

// isPaused and inTheAir take the mutex under which timers start jobs, pause and
// resume.
func (f *floor) isPaused(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.paused[name]
}

func (f *floor) inTheAir() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for _, j := range f.flying {
		names = append(names, string(j.Record.Value))
	}
	slices.Sort(names)
	return names
}

func (f *floor) expect(want ...string) {
	f.t.Helper()
	if diff := cmp.Diff(want, f.inTheAir()); diff != "" {
		f.t.Fatalf("in flight (-want +got):\n%s", diff)
	}
}

// committable is the offset that would be committed for deliver.crm[0], -1 for
// none.
func (f *floor) committable() int64 {
	for _, w := range f.Watermarks(map[string][]int32{schemas.DeliverTopic("crm"): {0}}) {
		return w.At.Offset
	}
	return -1
}
