package status

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// report puts together what the brokers said and what was counted.
func (l *look) report(t *tally, spans []*span) *Report {
	t.redriven()
	left := unread(spans)
	r := &Report{
		At: l.now, Brokers: l.Brokers,
		UnroutedPending: []int32{}, // never null
		Retries:         l.retries(t, left),
		Incomplete:      append([]string{}, slices.Sorted(maps.Keys(left))...), // never null
		DeadLetters: DeadLetters{
			Since: l.now.Add(-l.DeadSince), Bound: atLeast(left, schemas.TopicDeadLetters, schemas.TopicRedriven), Groups: deadGroups(t),
		},
	}
	for _, reads := range l.readers {
		s := stageOf(reads)
		if reads.Rests(l.Workspace) && len(s.Members) == 0 {
			continue // nobody has to run it
		}
		own := slices.DeleteFunc(slices.Clone(spans), func(part *span) bool { return part.reader != reads.Name })
		s.Unread = reads.unread(t, unread(own))
		r.Stages = append(r.Stages, s)
		if reads.routes() {
			for _, u := range s.Unread {
				r.Unrouted, r.UnroutedDeleted, r.UnroutedPending = u.Waiting, u.Deleted, u.Pending
			}
		}
	}
	r.Destinations = l.destinations(t, left)
	r.Replays = l.runs
	r.Imports = slices.DeleteFunc(l.imports, func(i Import) bool { return !i.recent(l.now) })
	r.Advice = Advise(r, l.window())
	return r
}

// routes reports whether it is this stage that calls go through on their way to
// destinations.
func (r *reader) routes() bool {
	return slices.ContainsFunc(r.Topics, func(t pipeline.Topic) bool { return t.Name == schemas.DeliverPrefix && t.Write })
}

// unread is what the stage has not finished of each topic of fixed name that it reads.
func (r *reader) unread(t *tally, left map[string]int64) []Unread {
	topics := r.Shared()
	all := make([]Unread, len(topics)) // never null
	for i, topic := range topics {
		all[i] = Unread{
			Topic: topic.Name, Waiting: counted(t.unread[unreadKey{r.Name, topic.Name}], left[topic.Name]),
			Deleted: deleted(r.progress[topic.Name]), Pending: append([]int32{}, slices.Sorted(maps.Keys(r.pending[topic.Name]))...),
			verb: topic.Consumed,
		}
	}
	return all
}

// progress is how far the stage is that reads a topic, of those topics that one stage
// alone reads.
func (l *look) progress(topic string) map[int32]groups.Lag {
	for _, r := range l.readers {
		if found, reads := r.progress[topic]; reads {
			return found
		}
	}
	return nil
}

// unread is how many offsets were not read, by topic; those of which all was read
// are not in it.
func unread(spans []*span) map[string]int64 {
	left := make(map[string]int64)
	for _, s := range spans {
		if !s.Done() {
			left[s.Topic] += s.Left()
		}
	}
	return left
}

func counted(c count, left int64) Backlog {
	b := Backlog{Events: c.events + left, Bound: Exact, Oldest: instant(c.oldest)}
	if left > 0 {
		b.Bound = AtMost
	}
	return b
}

func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Millisecond)
	return &t
}

// atLeast is the bound of what was counted on topics.
func atLeast(left map[string]int64, topics ...string) Bound {
	if slices.ContainsFunc(topics, func(topic string) bool { return left[topic] > 0 }) {
		return AtLeast
	}
	return Exact
}

func stageOf(r *reader) Stage {
	g := &r.group
	s := Stage{Name: r.Name, Group: g.Name, State: g.State, Members: []Member{}}
	for _, m := range g.Members {
		member := Member{Instance: m.InstanceID, ID: m.ID, Client: m.ClientID, Host: m.Host, Partitions: make(map[string]int)}
		for topic, partitions := range m.Partitions {
			member.Partitions[schemas.FamilyOf(topic)] += len(partitions)
		}
		s.Members = append(s.Members, member)
	}
	return s
}

// retries has a row for each retry topic that exists.
func (l *look) retries(t *tally, left map[string]int64) []Retry {
	var delays []time.Duration
	for _, r := range l.readers {
		for topic := range r.progress {
			if delay, retry := schemas.RetryDelayOf(topic); retry {
				delays = append(delays, delay)
			}
		}
	}
	slices.Sort(delays)
	rows := make([]Retry, 0, len(delays))
	for _, delay := range delays {
		topic := schemas.RetryTopic(delay)
		waiting := t.retries[delay]
		if waiting == nil {
			waiting = new(retryTally)
		}
		rows = append(rows, Retry{
			Delay: strings.TrimPrefix(topic, schemas.RetryPrefix), Waiting: counted(waiting.waiting, left[topic]), Overdue: waiting.overdue,
			Deleted: deleted(l.progress(topic)),
		})
	}
	return rows
}

// destinations has a row for each destination of the workspace, and for those that
// were removed while something waits for them.
func (l *look) destinations(t *tally, left map[string]int64) []Destination {
	ids := make(map[string]bool)
	for _, d := range l.Workspace.Destinations() {
		ids[d.ID] = true
	}
	for id := range t.destinations {
		ids[id] = true
	}
	for topic := range left {
		if id, routed := schemas.RoutedTo(topic); routed {
			ids[id] = true
		}
	}
	retryBound := Exact
	for topic := range left {
		if schemas.PrefixOf(topic) == schemas.RetryPrefix {
			retryBound = AtLeast
		}
	}
	rows := make([]Destination, 0, len(ids))
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		d, topic, kind := t.destination(id), l.topic(id), ""
		if known, ok := l.Workspace.Destination(id); ok {
			kind = cmp.Or(known.Type, workspace.TypeWebhooks)
		} else if topic == schemas.ArchiveTopic(id) {
			kind = workspace.TypeArchive
		}
		row := Destination{
			ID: id, Type: kind, State: l.state(id), Export: l.exports[id], Withheld: d.withheld, Failures: failures(d), Endpoints: l.endpoints(id, d),
			Undelivered:  counted(d.undelivered, left[topic]),
			Retrying:     Backlog{Events: d.retrying.events, Bound: retryBound, Oldest: instant(d.retrying.oldest)},
			FailingSince: instant(d.failingSince), Deleted: deleted(l.progress(topic)),
			Busy: l.busy(topic), Due: dueOf(d),
		}
		row.Replaying, row.ReplayedDeleted = l.replaying(id)
		if p, paused := l.Workspace.Paused(id); paused {
			row.Paused = &Paused{p.By, p.Since}
		}
		rows = append(rows, row)
	}
	return rows
}

// dueOf has a row for each bound, or none.
func dueOf(d *destinationTally) []Due {
	all := []Due{} // never null
	if d.retrying.events == 0 {
		return all
	}
	for i, n := range d.due {
		within := ""
		if i < len(dueWithin) {
			within = terminal.Brief(dueWithin[i])
		}
		all = append(all, Due{within, n})
	}
	return all
}

// replaying is what the sink has not finished of what replays sent to a destination, and
// what of it was deleted.
func (l *look) replaying(id string) (Backlog, int64) {
	partitions := l.progress(schemas.ReplayTopic(id))
	b := Backlog{Bound: Exact}
	for _, p := range partitions {
		b.Events += max(p.End-p.Committed, 0)
	}
	if b.Events > 0 {
		b.Bound = AtMost
	}
	return b, deleted(partitions)
}

// topic is where a destination's events wait, or waited before it was removed.
func (l *look) topic(id string) string {
	if d, known := l.Workspace.Destination(id); known {
		return d.Topic()
	}
	if topic := schemas.ArchiveTopic(id); len(l.progress(topic)) > 0 && len(l.progress(schemas.DeliverTopic(id))) == 0 {
		return topic
	}
	return schemas.DeliverTopic(id)
}

// busy are the partitions of a topic on which users hold up their own events.
func (l *look) busy(topic string) []BusyPartition {
	all := []BusyPartition{} // never null
	for _, r := range l.readers {
		for _, num := range slices.Sorted(maps.Keys(r.progress[topic])) {
			p := r.progress[topic][num]
			if r.Group.Busy == nil || p.Metadata == "" {
				continue
			}
			if keys, events := r.Group.Busy(p.Committed, p.Metadata); keys > 0 {
				all = append(all, BusyPartition{Partition: num, Keys: keys, Events: events})
			}
		}
	}
	return all
}

// deleted is how many offsets retention took from a topic before its group had
// finished them.
func deleted(partitions map[int32]groups.Lag) int64 {
	n := int64(0)
	for _, p := range partitions {
		n += p.Deleted
	}
	return n
}

func (l *look) state(id string) State {
	_, paused := l.Workspace.Paused(id)
	switch d, known := l.Workspace.Destination(id); {
	case !known:
		return Removed
	case d.Enabled && paused:
		return OnPause
	case d.Enabled:
		return Enabled
	default:
		return Disabled
	}
}

func failures(d *destinationTally) []Failure {
	all := make([]Failure, 0, len(d.failures))
	for _, f := range d.failures {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b Failure) int {
		return cmp.Or(-cmp.Compare(a.Events, b.Events), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}

// endpoints names those for which events wait. A fingerprint that fits none is that
// of an endpoint that was removed, and such an event goes to the others.
func (l *look) endpoints(id string, d *destinationTally) []Endpoint {
	all := []Endpoint{}
	dest, known := l.Workspace.Destination(id)
	if !known {
		return all
	}
	for _, e := range dest.Endpoints {
		if n := d.everywhere + d.endpoints[e.Fingerprint()]; n > 0 {
			all = append(all, Endpoint{URL: e.SafeURL(), Events: n})
		}
	}
	return all
}

func deadGroups(t *tally) []DeadGroup {
	all := make([]DeadGroup, 0, len(t.dead))
	for _, g := range t.dead {
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b DeadGroup) int {
		return cmp.Or(cmp.Compare(a.Destination, b.Destination), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}
