package stagefaults

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

// sums is what should have been told of people by the calls in the log, done by hand, and
// what was.
type sums struct {
	*people

	clocks map[int32]int64 // of partitions: when the last record was taken in
	users  map[string]*user
	due    map[string][]change // by user and key
	told   map[string][]change
	ids    map[string]bool
	calls  int
	twice  int
}

// change is a value, and when it became true; zero: at no instant of its own.
type change struct {
	value string
	at    int64 // Unix milliseconds
}

type user struct {
	calls  int
	last   int64
	active bool
}

// findings are how both compare.
type findings struct {
	calls, due, missing, doubled int
	wrong                        string // the first change that is another one; empty: none
}

func (f *findings) settled() bool { return f.missing == 0 && f.doubled == 0 && f.wrong == "" }

func newSums(p *people) *sums {
	return &sums{
		people: p, clocks: make(map[int32]int64), users: make(map[string]*user),
		due: make(map[string][]change), told: make(map[string][]change), ids: make(map[string]bool),
	}
}

// see takes in a record of raw-events, in the order of its partition.
func (s *sums) see(rec *kgo.Record) {
	s.clocks[rec.Partition] = max(s.clocks[rec.Partition], rec.Timestamp.UnixMilli())
	name := string(rec.Key)
	h, err := kafka.HeadersOf(rec)
	if err != nil || !strings.HasPrefix(name, s.run+"-") {
		return
	}
	var call struct {
		Timestamp time.Time                  `json:"timestamp"`
		Traits    map[string]json.RawMessage `json:"traits"`
	}
	if json.Unmarshal(rec.Value, &call) != nil {
		return
	}
	at := call.Timestamp.UnixMilli()
	if h.Origin != schemas.OriginPersonas {
		s.called(name, min(at, rec.Timestamp.UnixMilli()), s.clocks[rec.Partition])
		return
	}
	if s.ids[h.MessageID] {
		s.twice++
		return
	}
	s.ids[h.MessageID] = true
	for key, value := range call.Traits {
		c := change{value: string(value)}
		if c.value == "false" {
			c.at = at
		}
		s.told[name+" "+key] = append(s.told[name+" "+key], c)
	}
}

// called is what a call leads to, which happened at an instant and is taken in at now.
func (s *sums) called(name string, at, now int64) {
	u := s.users[name]
	if u == nil {
		u = new(user)
		s.users[name] = u
	}
	s.calls++
	u.calls++
	s.expect(name, "storms_", change{value: strconv.Itoa(u.calls)})
	if u.calls == 3 {
		s.expect(name, "regulars_", change{value: "true"})
	}
	s.pass(name, u, now)
	u.last = max(u.last, at)
	if !u.active && now < u.last+activeFor.Milliseconds() {
		u.active = true
		s.expect(name, "active_", change{value: "true"})
	}
}

// pass lets time go on to now.
func (s *sums) pass(name string, u *user, now int64) {
	if until := u.last + activeFor.Milliseconds(); u.active && until <= now {
		u.active = false
		s.expect(name, "active_", change{"false", until})
	}
}

func (s *sums) expect(name, key string, c change) {
	key = name + " " + key + s.suffix
	s.due[key] = append(s.due[key], c)
}

// findings compares, once the time of all has passed.
func (s *sums) findings() findings {
	for name, u := range s.users {
		s.pass(name, u, u.last+activeFor.Milliseconds())
	}
	f := findings{calls: s.calls, doubled: s.twice}
	for key := range s.told {
		if s.due[key] == nil && strings.HasSuffix(key, s.suffix) {
			s.due[key] = []change{} // nothing is due
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.due)) {
		due, told := s.due[key], s.told[key]
		f.due += len(due)
		f.missing += max(0, len(due)-len(told))
		f.doubled += max(0, len(told)-len(due))
		for i := range min(len(due), len(told)) {
			if due[i] != told[i] && f.wrong == "" {
				f.wrong = fmt.Sprintf("%s: change %d is %v, expected %v", key, i+1, told[i], due[i])
			}
		}
	}
	return f
}
