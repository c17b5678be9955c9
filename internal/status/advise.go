package status

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// slow is how long something may wait before it is worth a word: a rebalance after
// a kill takes eight seconds, and a deployment several of them.
const slow = 30 * time.Second

// Advise says what is not as it should be in a report, and what to do about it. An
// event is retried for window.
func Advise(r *Report, window time.Duration) []Advice {
	all := []Advice{}
	add := func(about, problem, do string) { all = append(all, Advice{About: about, Problem: problem, Do: do}) }
	for i := range r.Stages {
		adviseStage(&r.Stages[i], add)
	}
	for i := range r.Stages {
		r.adviseUnread(&r.Stages[i], add)
	}
	for i := range r.Destinations {
		r.adviseDestination(&r.Destinations[i], window, add)
	}
	r.adviseRetries(add)
	r.adviseDead(add)
	r.adviseReplays(add)
	r.adviseImports(add)
	if len(r.Incomplete) > 0 {
		add("this report", some(r.Incomplete)+" could not be read to the end: numbers are at least or at most",
			"/metrics of the stages has the complete numbers")
	}
	return all
}

func (r *Report) adviseUnread(s *Stage, add func(about, problem, do string)) {
	for _, u := range s.Unread {
		if age := r.age(u.Waiting); age > slow && len(s.Members) > 0 {
			problem := fmt.Sprintf("%s to %s, the oldest for %s", u.Waiting.events(), u.verb.To, terminal.Brief(age))
			do := "look at the logs and at /readyz of " + s.Name + "; if nothing is wrong there, start more of them"
			if len(u.Pending) > 0 {
				problem += fmt.Sprintf("; partitions %v wait for the end of a transaction", u.Pending)
				do = "the " + s.Name + " that left it open ends it within a minute; if it persists, `anabranch doctor` names the holder and what ends it"
			}
			add(u.Topic, problem, do)
		}
		if u.Deleted > 0 {
			do := "they are lost; raise retention.ms and retention.bytes of " + u.Topic
			if variable := policy.RetentionVariable(u.Topic, policy.RetentionMs); variable != "" {
				do += ", and " + variable + " for when it is created again"
			}
			add(u.Topic, fmt.Sprintf("retention deleted up to %s events before they were %s", terminal.Count(u.Deleted), u.verb.Done), do)
		}
	}
}

func (r *Report) age(b Backlog) time.Duration {
	if b.Oldest == nil {
		return 0
	}
	return r.At.Sub(*b.Oldest)
}

// events is how many there are, in words.
func (b Backlog) events() string {
	text := terminal.Count(b.Events) + " events"
	if b.Events == 1 {
		text = "1 event"
	}
	if b.Bound == Exact {
		return text
	}
	return string(b.Bound) + " " + text
}

func adviseStage(s *Stage, add func(about, problem, do string)) {
	switch {
	case len(s.Members) == 0:
		add(s.Name, "no process of this stage is running", fmt.Sprintf("start `anabranch %s`, or `anabranch run`; what arrives meanwhile waits on the brokers", s.Name))
	case s.State != "Stable":
		add(s.Name, fmt.Sprintf("its group is rebalancing (%s): nothing is processed until its members agree", s.State),
			"check again in 15s; if it persists, a member keeps leaving and joining: look at the logs for restarts")
	default:
		for _, m := range s.Members {
			if len(m.Partitions) == 0 {
				add(s.Name, fmt.Sprintf("%s on %s has no partitions: there are more processes than partitions to share", cmp.Or(m.Instance, m.ID), m.Host),
					"stop it, or keep it as a spare")
			}
		}
	}
}

func (r *Report) adviseDestination(d *Destination, window time.Duration, add func(about, problem, do string)) {
	waiting := d.Undelivered.Events + d.Retrying.Events
	if d.Type == workspace.TypeArchive {
		r.adviseArchive(d, add)
		return
	}
	switch {
	case d.Paused != nil:
		add(d.ID, d.Paused.words(d.waiting()), "`anabranch destinations resume "+d.ID+"` has it delivered to; what waits is kept for as long as its topic keeps events")
	case d.State == Removed && waiting > 0:
		add(d.ID, d.waiting()+" of a destination that is not in the workspace", "they go to dead-letters as destination_removed; `anabranch apply` it again to have them redriven there")
	case d.State == Disabled && waiting > 0:
		add(d.ID, d.waiting()+" of a destination that is switched off", "they go to dead-letters as destination_disabled; switch it on, then redrive them")
	case d.Retrying.Events > 0:
		add(d.ID, d.waiting()+", "+d.failing(r.At), d.remedy(window))
	case len(d.Busy) == 0 && r.age(d.Undelivered) > slow:
		add(d.ID, fmt.Sprintf("%s, the oldest for %s, and none has failed", d.waiting(), terminal.Brief(r.age(d.Undelivered))),
			"calls arrive faster than they are delivered: make the endpoint answer faster, raise WEBHOOK_SINK_MAX_IN_FLIGHT, or start more sinks")
	}
	d.adviseBusy(add)
	if d.Deleted > 0 {
		add(d.ID, fmt.Sprintf("retention deleted up to %s events before they were delivered", terminal.Count(d.Deleted)),
			"they are lost to this destination; raise retention.ms of "+schemas.DeliverTopic(d.ID))
	}
	d.adviseReplayed(add)
}

// words say that a destination is paused, and what that keeps waiting.
func (p *Paused) words(waiting string) string {
	return "deliveries are paused " + workspace.Pause{By: p.By, Since: p.Since}.String() + ": " + waiting
}

// adviseReplayed tells what a replay lost: it may be started again.
func (d *Destination) adviseReplayed(add func(about, problem, do string)) {
	if d.ReplayedDeleted > 0 {
		topic := schemas.ReplayTopic(d.ID)
		add(d.ID, fmt.Sprintf("retention deleted up to %s events of replays before they were delivered", terminal.Count(d.ReplayedDeleted)),
			"raise retention.ms of "+topic+", then replay them again: `anabranch replay list` shows the runs")
	}
}

// openFor is how long a range of an archive may be open at the longest (maxAge), and a little.
const openFor = 26 * time.Hour

func (r *Report) adviseArchive(d *Destination, add func(about, problem, do string)) {
	if d.State == Removed {
		if d.Undelivered.Events > 0 {
			add(d.ID, d.waiting()+" of an archive that is not in the workspace",
				"they stay on "+schemas.ArchiveTopic(d.ID)+" until retention takes them: `anabranch apply` the archive again, or delete the topic")
		}
		return
	}
	if age := r.age(d.Undelivered); age > openFor {
		add(d.ID, fmt.Sprintf("%s to be archived, the oldest for %s", d.waiting(), terminal.Brief(age)),
			"look at the log of the stage archive for \"archiving failed\"; if there is none, start more processes of it")
	}
	if d.Deleted > 0 {
		add(d.ID, fmt.Sprintf("retention deleted up to %s events before they were archived", terminal.Count(d.Deleted)),
			"they are lost to this archive; raise retention.ms of "+schemas.ArchiveTopic(d.ID))
	}
}

// adviseBusy names the partitions on which users hold up their own events: more slots
// or more sinks would not make them any faster.
func (d *Destination) adviseBusy(add func(about, problem, do string)) {
	for _, b := range d.Busy {
		users := "1 user wait"
		if b.Keys > 1 {
			users = fmt.Sprintf("%d users wait", b.Keys)
		}
		add(d.ID, fmt.Sprintf("%s of %s for one another on %s[%d]", Backlog{Events: b.Events, Bound: Exact}.events(), users, schemas.DeliverTopic(d.ID), b.Partition),
			"one user has more events than the receiver accepts one at a time, and no other user waits for them: make the endpoint answer faster, or give a sender that is not a single user, such as a service account, more than one id")
	}
}

func (d *Destination) waiting() string {
	b := d.Undelivered
	b.Events += d.Retrying.Events
	if b.Bound == Exact {
		b.Bound = d.Retrying.Bound
	}
	verb := " wait"
	if b.Events == 1 {
		verb = " waits"
	}
	return b.events() + verb
}

// failing says what events that wait have met with. The detail is our own text, and
// names neither secrets nor what a receiver said.
func (d *Destination) failing(now time.Time) string {
	if len(d.Failures) == 0 {
		return terminal.Count(d.Withheld) + " of them held back while its endpoints are down"
	}
	f := d.Failures[0]
	text := "failing with " + string(f.Reason)
	if f.Detail != "" {
		text += " (" + terminal.Safe(f.Detail) + ")"
	}
	if d.FailingSince != nil {
		text += " since " + moment(*d.FailingSince, now)
	}
	return text
}

// remedy is what to do about a destination that fails, and by when.
func (d *Destination) remedy(window time.Duration) string {
	do := "find out why its endpoint fails"
	if len(d.Failures) > 0 {
		do = remedyOf(d.Failures[0].Reason)
	}
	if d.FailingSince == nil {
		return do
	}
	return fmt.Sprintf("%s; they are retried automatically until %s, then the first go to dead-letters, from where they can be redriven",
		do, terminal.Moment(d.FailingSince.Add(window)))
}

// remedies are what helps against a reason to retry or to give up.
var remedies = map[schemas.Reason]string{
	schemas.ReasonStatus5xx:           "fix the receiver",
	schemas.ReasonTimeout:             "have the receiver answer within 5s: accept the event first, process it afterwards",
	schemas.ReasonNetwork:             "check that the receiver is running, that its name resolves, and that the sink's machine can reach it",
	schemas.ReasonTLS:                 "give the receiver a certificate that verifies, or name its root in WEBHOOK_SINK_EXTRA_CA_FILE",
	schemas.ReasonSelfSigned:          "give the receiver a certificate that verifies, or name its root in WEBHOOK_SINK_EXTRA_CA_FILE",
	schemas.ReasonStatus3xx:           "put the URL it redirects to into the workspace",
	schemas.ReasonStatus4xx:           "see in the receiver's log why it refuses them",
	schemas.ReasonAddressRefused:      "use a public address, or open its network with WEBHOOK_SINK_ALLOW_NETWORKS",
	schemas.ReasonNotHTTPS:            "give the destination an https endpoint, or switch WEBHOOK_SINK_HTTPS_ONLY off",
	schemas.ReasonSecretsLocked:       "give the sink the key that the destination's secrets are encrypted with (SECRETS_KEY)",
	schemas.ReasonDestinationRemoved:  "add the destination to the workspace and enable it",
	schemas.ReasonDestinationDisabled: "add the destination to the workspace and enable it",
	schemas.ReasonPlanViolation:       "fix the calls, or the source's tracking plan",
	schemas.ReasonSourceUnknown:       "put the source back into the workspace, then redrive them, or let them expire if it was removed on purpose",
	schemas.ReasonRecordTooLarge:      "raise max.message.bytes of the topics",
	schemas.ReasonTopicUnavailable:    "see the detail of the dead letters: allow the router to create the destination's topic, or fix the brokers that lead it",
	schemas.ReasonVersionUnknown:      "upgrade all stages to the release that wrote them",
}

func remedyOf(reason schemas.Reason) string {
	return cmp.Or(remedies[reason], "see the detail of the dead letters")
}

// moment is a time of day where that says all.
func moment(t, now time.Time) string {
	if t.UTC().Truncate(24 * time.Hour).Equal(now.UTC().Truncate(24 * time.Hour)) {
		return t.UTC().Format("15:04:05Z")
	}
	return terminal.Moment(t)
}

func (r *Report) adviseRetries(add func(about, problem, do string)) {
	overdue := int64(0)
	for i := range r.Retries {
		q := &r.Retries[i]
		overdue += q.Overdue
		if q.Deleted > 0 {
			topic := schemas.RetryPrefix + q.Delay
			add(topic, fmt.Sprintf("retention deleted up to %s events before they were retried", terminal.Count(q.Deleted)),
				"they are lost; raise retention.ms of "+topic)
		}
	}
	if overdue > 0 {
		add("retries", Backlog{Events: overdue, Bound: Exact}.events()+" due for more than a minute",
			"after an outage they come back at a growing pace; if their number does not fall, start more sinks")
	}
}

func (r *Report) adviseDead(add func(about, problem, do string)) {
	for i := range r.DeadLetters.Groups {
		g := &r.DeadLetters.Groups[i]
		open := g.Events - g.Redriven
		if open == 0 {
			continue
		}
		n := Backlog{Events: open, Bound: r.DeadLetters.Bound}
		about, filter := g.Destination, "--destination "+g.Destination+" "
		if about == "" {
			about, filter = schemas.TopicDeadLetters, ""
		}
		if g.Reason == "" {
			add(about, n.events()+" in dead-letters can't be read", "`anabranch dead-letters list` shows what is wrong with them")
			continue
		}
		add(about, fmt.Sprintf("%s given up as %s, the last at %s", n.events(), g.Reason, moment(g.Last, r.At)),
			fmt.Sprintf("%s; then `anabranch dead-letters redrive %s--reason %s`", remedyOf(g.Reason), filter, g.Reason))
	}
}

// some names a few of the topics.
func some(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more topics", strings.Join(names[:most], ", "), len(names)-most)
}
