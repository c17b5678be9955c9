package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Oldest is the oldest Apache Kafka that has all that is needed, and Tried the one
// that the tests run on.
const (
	Oldest = "2.5"
	Tried  = "4.1"
)

// need is a request that brokers must know, in a version that has what it is needed
// for.
type need struct {
	key     kmsg.Key
	version int16
	what    string
	since   string // the Apache Kafka that brought it
}

func needs() []need {
	return []need{
		{kmsg.Produce, 3, "records with headers", "0.11"},
		{kmsg.InitProducerID, 1, "idempotent writing", "2.0"},
		{kmsg.ListOffsets, 2, "the end of what is committed", "0.11"},
		{kmsg.JoinGroup, 5, "static members, so that a restart costs no rebalance", "2.3"},
		{kmsg.OffsetFetch, 7, "offsets that no open transaction may still change", "2.5"},
		{kmsg.TxnOffsetCommit, 3, "transactions that a rebalance fences", "2.5"},
		{kmsg.CreateTopics, 4, "topics with the brokers' own number of replicas", "2.4"},
	}
}

// judgeVersions judges what each broker understands.
func judgeVersions(brokers []advertised) []Finding {
	f := &findings{check: CheckVersions}
	var guesses []string
	for i := range brokers {
		b := &brokers[i]
		if b.versions == nil {
			continue // that it can't be reached is said elsewhere
		}
		guess := guessed(b.versions)
		if !slices.Contains(guesses, guess) {
			guesses = append(guesses, guess)
		}
		if missing := lacking(b.versions); len(missing) > 0 {
			f.problem(fmt.Sprintf("broker %d", b.id), fmt.Sprintf("matches %s: it lacks %s", guess, strings.Join(missing, "; ")),
				"update it: "+Oldest+" is the oldest that has all, "+Tried+" is what the tests run on")
		}
	}
	if len(guesses) == 0 {
		return nil
	}
	if len(guesses) > 1 {
		f.warn("", "brokers match "+strings.Join(guesses, " and "), "finish the update of the cluster")
	}
	return f.otherwise("brokers know all requests that are needed, and match " + guesses[0])
}

// guessed is the release that knows the same requests as a broker. Some know a set
// of their own, that of `anabranch run` among them.
func guessed(r *kmsg.ApiVersionsResponse) string {
	guess := kversion.FromApiVersionsResponse(r).VersionGuess()
	if version, plain := strings.CutPrefix(guess, "v"); plain && !strings.Contains(version, " ") {
		return "Kafka " + version
	}
	return "no known release of Kafka"
}

// lacking says what a broker does not understand.
func lacking(r *kmsg.ApiVersionsResponse) []string {
	has := make(map[int16]int16, len(r.ApiKeys))
	for _, k := range r.ApiKeys {
		has[k.ApiKey] = k.MaxVersion
	}
	var missing []string
	for _, n := range needs() {
		if most, known := has[n.key.Int16()]; !known || most < n.version {
			missing = append(missing, fmt.Sprintf("%s (%s %d, Kafka %s)", n.what, n.key.Name(), n.version, n.since))
		}
	}
	return missing
}
