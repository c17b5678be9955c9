package place

import (
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/mark"
)

func TestBegin(t *testing.T) {
	t.Parallel()
	at := func(next int64) *mark.Mark { return &mark.Mark{Next: next} }
	dated := func(next int64) *mark.Mark { return &mark.Mark{Next: next, Newest: time.UnixMilli(1)} }
	of := func(id string, next int64) *mark.Mark { return &mark.Mark{Next: next, Of: id} }
	offset := func(n int64) *int64 { return &n }
	log := kafka.Extent{Start: 100, Stable: 200, End: 200}
	for name, c := range map[string]struct {
		evidence
		at    int64
		cause cause
	}{
		"commit within the log":            {evidence{committed: at(150), history: true}, 150, asCommitted},
		"commit at the end":                {evidence{committed: at(200)}, 200, asCommitted},
		"commit before bookmark":           {evidence{committed: at(150), kept: at(140)}, 150, asCommitted},
		"commit before setting":            {evidence{committed: at(150), told: offset(100)}, 150, asCommitted},
		"commit before what is left":       {evidence{committed: at(90)}, 100, asDeleted},
		"commit beyond the end":            {evidence{committed: at(203), later: -1}, 200, asCut},
		"tail lost, events came since":     {evidence{committed: at(203), later: 190}, 190, asCut},
		"topic made anew":                  {evidence{committed: at(900), later: 100}, 100, asCut},
		"later events came while we asked": {evidence{committed: at(203), later: 201}, 200, asCut},
		"bookmark":                         {evidence{kept: at(140), neighbours: true}, 140, asKept},
		"bookmark before setting":          {evidence{kept: at(140), history: true, told: offset(100)}, 140, asKept},
		"bookmark before what is left":     {evidence{kept: at(90), neighbours: true}, 100, asDeleted},
		"bookmark beyond the end":          {evidence{kept: at(203), later: 190, neighbours: true}, 190, asCut},
		"new installation":                 {evidence{}, 100, asNew},
		"new installation with a setting":  {evidence{told: offset(200)}, 100, asNew},
		"first events of a partition":      {evidence{neighbours: true, history: true}, 100, asNew},
		"nothing is known":                 {evidence{history: true}, 0, notAtAll},
		"nothing is known, and told":       {evidence{history: true, told: offset(170)}, 170, asTold},
		"a commit, and no leader":          {evidence{committed: at(900), leaderless: true}, 900, asCommitted},
		"commit went back":                 {evidence{committed: dated(150), last: dated(180), later: -1}, 180, asLast},
		"commit went back, more has come":  {evidence{committed: dated(150), last: dated(180), later: 190}, 180, asLast},
		"commit went forward":              {evidence{committed: dated(180), last: dated(150), later: -1}, 180, asCommitted},
		"commit was set by hand":           {evidence{committed: at(150), last: dated(180), later: -1}, 150, asCommitted},
		"what was known is undated":        {evidence{committed: dated(150), last: at(180), later: -1}, 150, asCommitted},
		"made anew, and grown again":       {evidence{committed: dated(150), last: dated(180), later: 100}, 150, asCommitted},
		"tail lost, and no commit of it":   {evidence{committed: dated(150), last: dated(203), later: -1}, 150, asCommitted},
		"bookmark went back":               {evidence{kept: dated(150), last: dated(180), neighbours: true, later: -1}, 180, asLast},
		"nothing but a memory":             {evidence{last: dated(180), history: true, later: -1}, 0, notAtAll},
		"commit of an earlier topic":       {evidence{committed: of("old", 150), topic: "new"}, 100, asAnew},
		"bookmark of an earlier topic":     {evidence{kept: of("old", 900), topic: "new", history: true}, 100, asAnew},
		"memory of an earlier topic":       {evidence{last: of("old", 900), topic: "new", history: true}, 100, asAnew},
		"memory of it, and a commit":       {evidence{last: of("old", 900), committed: of("new", 150), topic: "new"}, 150, asCommitted},
		"of an earlier topic, no leader":   {evidence{committed: of("old", 150), topic: "new", leaderless: true}, 0, notYet},
		"the brokers have no ids":          {evidence{committed: of("old", 150)}, 150, asCommitted},
		"no commit, and no leader":         {evidence{neighbours: true, leaderless: true}, 0, notYet},
	} {
		c.extent = log
		if got := begin(c.evidence); got.Next != c.at || got.cause != c.cause {
			t.Errorf("%s: at %d, cause %d, want %d, %d", name, got.Next, got.cause, c.at, c.cause)
		}
	}
}
