package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Settings are what an examination is made with.
type Settings struct {
	Kafka   []kgo.Opt // what every client of the process shares
	Topics  *topics.Admin
	Brokers []string // the addresses from the settings
	// Variable names the setting that Brokers are from.
	Variable string
	Stages   pipeline.Stages
	// Roles are those of which our principal must be capable.
	Roles []acl.Role
	// Workspace reads what is in force, and whether people have applied it.
	Workspace func(context.Context) (*workspace.Snapshot, bool, error)
	// Suppressions reads how many users are suppressed under each key, by its id, those
	// without a key under ""; SuppressionKeys are the ids of the keys of this process, the
	// current one first.
	Suppressions    func(context.Context) (map[string]int, error)
	SuppressionKeys []string
	// Peers are addresses that endpoints may have beside those that stages permit.
	Peers []netip.AddrPort
	// Unknown are variables that look like settings and are none, each with the setting
	// that is nearest to it; empty: none is near.
	Unknown map[string]string
	// Differ are settings that the running process of Data has otherwise, with its values.
	Differ map[string]string
	// Data is the directory of the embedded broker, empty without one, and DataBytes
	// is about how large its log gets.
	Data      string
	DataBytes int64

	embedded bool // whether the brokers are an embedded one
}

// Examine makes all checks. That brokers do not answer is a finding, and then there
// are none about what only they could tell.
func Examine(ctx context.Context, set Settings) *Diagnosis {
	now := time.Now().UTC().Truncate(time.Millisecond)
	connections, attempts := 0, 0
	for _, s := range set.Stages {
		known := s.Known()
		connections, attempts = connections+known.Connections, attempts+known.Attempts
	}
	all := slices.Concat(
		judgeSettings(set.Unknown, set.Differ),
		judgeFiles(fileLimit(), connections, attempts),
		judgeMemory(groupLimit("/"), goLimit()),
	)
	if set.Data != "" {
		all = append(all, judgeData(lookAtData(set.Data), set.DataBytes)...)
	}
	seeds := lookAtBrokers(ctx, set.Kafka, set.Brokers)
	all = append(all, judgeBrokers(seeds, set.Variable)...)
	if brokers := known(seeds); len(brokers) > 0 {
		embedded, err := set.Topics.Recognise(ctx)
		if err != nil {
			all = append(all, unable(CheckBrokers, err))
		}
		set.embedded = embedded
		all = append(all, judgeEmbedded(embedded, set.Data != "")...)
		all = append(all, judgeVersions(brokers)...)
		all = append(all, set.cluster(ctx, now)...)
	}
	return diagnose(now, all)
}

func judgeSettings(unknown, differ map[string]string) []Finding {
	f := &findings{check: CheckSettings}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		do := "it may be misspelt: `anabranch help config` lists all settings"
		if near := unknown[name]; near != "" {
			do = "did you mean " + near + "? `anabranch help config` lists all settings"
		}
		f.warn(name, "is no setting", do)
	}
	for _, name := range slices.Sorted(maps.Keys(differ)) {
		f.warn(name, fmt.Sprintf("the running process has %q, and this shell another value, by which all of this is judged", differ[name]),
			"unset it here, or restart the process with what it is meant to be")
	}
	return f.otherwise("each can work")
}

// cluster makes the checks that need an answer from the brokers. What one of them
// can't find out is a finding of its own, and the others are made all the same.
func (set *Settings) cluster(ctx context.Context, now time.Time) []Finding {
	cl, err := kgo.NewClient(set.Kafka...)
	if err != nil {
		return []Finding{unable(CheckBrokers, err)}
	}
	defer cl.Close()
	users := set.suppressed(ctx)
	snapshot, applied, err := set.Workspace(ctx)
	if err != nil {
		return append(append(set.served(ctx, cl, now, workspace.NewSnapshot(nil, nil)), users...), unable(CheckWorkspace, err))
	}
	all := append(append(set.served(ctx, cl, now, snapshot), users...), slices.Concat(judgeWorkspace(snapshot, applied), judgeSecrets(snapshot), judgeSealing(snapshot, set.Data != ""))...)
	if !applied {
		return all // the example: it delivers to the receiver of `anabranch run`, whose sink may
	}
	endpoints, beyond := lookAtEndpoints(ctx, net.DefaultResolver, snapshot)
	if len(endpoints) == 0 {
		return all
	}
	return append(all, judgeEndpoints(endpoints, beyond, set.Stages.Permit(set.Peers...))...)
}

// served makes the checks of what the brokers do for a workspace.
func (set *Settings) served(ctx context.Context, cl *kgo.Client, now time.Time, s *workspace.Snapshot) []Finding {
	set.awaitCoordinators(ctx)
	all := set.topicsAndGrants(ctx, cl, s)
	groups, err := lookAtGroups(ctx, set.Topics, working(set.Stages.Grouped(), s))
	if err != nil {
		all = append(all, unable(CheckGroups, err))
	}
	all = append(all, judgeGroups(groups)...)
	all = append(all, set.kept(ctx, s)...)
	all = append(all, set.transactions(ctx, now, s)...)
	newest, err := ranges.Newest(ctx, set.Topics.Client, schemas.TopicRawEvents)
	if err != nil {
		return append(all, unable(CheckClock, err))
	}
	return append(all, judgeClock(clockFacts{now: now, newest: newest, synchronised: synchronised()})...)
}

// working are the stages that have something to do in a workspace: of another one it is no
// fault that nobody runs it.
func working(stages pipeline.Stages, s *workspace.Snapshot) pipeline.Stages {
	return slices.DeleteFunc(slices.Clone(stages), func(stage *pipeline.Stage) bool { return stage.Rests(s) })
}

// awaitCoordinators gives a new cluster time to create its topic of offsets, which the
// first question about a group makes it do: until then checks of groups can only fail.
func (set *Settings) awaitCoordinators(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, coordinatorWait)
	defer cancel()
	for _, s := range set.Stages.Grouped() {
		_, _ = set.Topics.Commits(ctx, s.Group.Name, schemas.TopicRawEvents) // what is wrong with it the checks find
	}
}

// coordinatorWait is several times what a cluster takes to create the topic.
const coordinatorWait = 10 * time.Second

// kept makes the checks of what brokers keep for stages that are behind, or away.
func (set *Settings) kept(ctx context.Context, s *workspace.Snapshot) []Finding {
	backlogs, err := lookAtBacklogs(ctx, set.Topics, set.Stages.Grouped(), set.expected(s))
	if err != nil {
		return []Finding{unable(CheckRetention, err)}
	}
	all := judgeRetention(backlogs, set.embedded)
	offsets, err := groups.OffsetsKept(ctx, set.Topics.Client)
	if err != nil {
		return append(all, unable(CheckOffsets, err))
	}
	return append(all, judgeOffsets(offsets, backlogs)...)
}

func (set *Settings) transactions(ctx context.Context, now time.Time, s *workspace.Snapshot) []Finding {
	facts, err := lookAtTransactions(ctx, set.Topics, set.expected(s), set.Stages)
	if err != nil {
		return []Finding{unable(CheckTransactions, err)}
	}
	return judgeTransactions(facts, set.Stages, set.Brokers, now)
}

func (set *Settings) topicsAndGrants(ctx context.Context, cl *kgo.Client, s *workspace.Snapshot) []Finding {
	expected := set.expected(s)
	topics, err := lookAtTopics(ctx, cl, expected)
	if err != nil {
		return []Finding{unable(CheckTopics, err)}
	}
	roles := withExports(set.Roles, s)
	allowed, err := lookAtGrants(ctx, cl, topics, roles)
	all := judgeGrants(allowed, roles)
	if err != nil {
		all = []Finding{unable(CheckPermissions, err)}
	}
	mismatches, unchecked := set.Topics.For(s.Exports()).Check(ctx)
	all = append(all, judgeTopics(topics, expected, mismatches, unchecked)...)
	return append(all, tellExports(s, set.embedded)...)
}

// expected are the topics that stages need once all of them have run.
func (set *Settings) expected(s *workspace.Snapshot) []string {
	names := set.Stages.Needed()
	names = append(names, s.Topics()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// unable is the finding of a check that could not be made.
func unable(check Check, err error) Finding {
	f := Finding{Check: check, Level: Problem, Found: fmt.Sprintf("could not be checked: %v", err), Do: cmp.Or(kafka.Advice(err), "check again; if it persists, look at the brokers' logs")}
	switch {
	case errors.Is(err, kerr.CoordinatorNotAvailable):
		f.Do = "check again in half a minute; if it persists, __consumer_offsets can't be created or has partitions without a leader: compare the brokers' offsets.topic.replication.factor with their number"
	case errors.Is(err, kerr.GroupAuthorizationFailed), errors.Is(err, kerr.TopicAuthorizationFailed):
		// A stage may do all it has to and not see what the others do.
		f.Level, f.Do = Warning, "look with a principal that may see all: docs/brokers.md has the list of the role status"
	}
	return f
}
