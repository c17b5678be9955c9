package webhooksink

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

// floor is a dispatcher whose workers are a list: nothing ends until the test
// says so.
type floor struct {
	*dispatcher

	t       testing.TB
	flying  []*job
	paused  map[string]bool // topics, and partitions as topic/num
	started []string        // message ids
}

func newFloor(tb testing.TB, limits shares) *floor {
	tb.Helper()
	f := &floor{
		dispatcher: newDispatcher(limits, testConfig().RetryDelays[0], newMetrics(prometheus.NewRegistry())),
		t:          tb,
		paused:     make(map[string]bool),
	}
	f.start = func(j *job) { f.begun(j) }
	set := func(name string, to bool) {
		if f.paused[name] == to { // under the mutex
			tb.Errorf("%s paused: %t, twice", name, to)
		}
		f.paused[name] = to
	}
	f.flow = flow{
		pauseTopic:      func(topic string) { set(topic, true) },
		resumeTopic:     func(topic string) { set(topic, false) },
		pausePartition:  func(at place) { set(fmt.Sprint(at), true) },
		resumePartition: func(at place) { set(fmt.Sprint(at), false) },
	}
	return f
}

func (f *floor) begun(j *job) {
	f.flying = append(f.flying, j)
	f.started = append(f.started, string(j.record.Value))
}

// end finishes the i-th job in flight.
func (f *floor) end(i int) {
	j := f.flying[i]
	f.flying = slices.Delete(f.flying, i, i+1)
	if next := f.done(j, true); next != nil {
		f.begun(next)
	}
}

// finish finishes the job in flight of that name.
func (f *floor) finish(name string) {
	f.t.Helper()
	i := slices.IndexFunc(f.flying, func(j *job) bool { return string(j.record.Value) == name })
	if i < 0 {
		f.t.Fatalf("%s is not in flight", name)
	}
	f.end(i)
}

func (f *floor) own(id string, partitions ...int32) {
	f.assign(map[string][]int32{schemas.DeliverTopic(id): partitions}, nil)
}

// give hands over one record per name; the first letter is its key. Offsets are
// counted from at.
func (f *floor) give(id string, partition int32, at int64, names ...string) {
	var jobs []*job
	for i, name := range names {
		jobs = append(jobs, newJob(&kgo.Record{
			Topic: schemas.DeliverTopic(id), Partition: partition, Offset: at + int64(i),
			Key: []byte(name[:1]), Value: []byte(name),
		}))
	}
	f.take(place{schemas.DeliverTopic(id), partition}, jobs)
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
		names = append(names, string(j.record.Value))
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
	for _, w := range f.watermarks(map[string][]int32{schemas.DeliverTopic("crm"): {0}}) {
		return w.at.Offset
	}
	return -1
}
