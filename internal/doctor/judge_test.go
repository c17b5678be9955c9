package doctor

import (
	"context"
	"crypto/x509"
	"errors"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/workspace"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// expect checks that there is one finding, of a level, with the parts in its text.
// Parts are separated by "|".
func expect(t *testing.T, got []Finding, level Level, parts string) {
	t.Helper()
	if len(got) != 1 || got[0].Level != level || (got[0].Do == "") != (level == OK) {
		t.Errorf("found %+v, want one %s, with what to do unless it is ok", got, level)
		return
	}
	for part := range strings.SplitSeq(parts, "|") {
		if text := got[0].About + ": " + got[0].Found + " -> " + got[0].Do; !strings.Contains(text, part) {
			t.Errorf("found %q, want %q in it", text, part)
		}
	}
}

// verdict is what a judgement should come to.
type verdict struct {
	got   []Finding
	level Level
	parts string
}

func check(t *testing.T, verdicts map[string]verdict) {
	t.Helper()
	for name, v := range verdicts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect(t, v.got, v.level, v.parts)
		})
	}
}

func TestJudgeBrokers(t *testing.T) {
	t.Parallel()
	refused := errors.New("connection refused")
	reached := []advertised{{id: 1, addr: "a:9092"}}
	check(t, map[string]verdict{
		"all":         {judgeBrokers([]seed{{addr: "a:9092", took: 3 * time.Millisecond, brokers: reached}}, "KAFKA_BROKERS"), OK, "1 of 1 addresses answer|after 3ms"},
		"none":        {judgeBrokers([]seed{{addr: "a:9092", err: refused}}, "KAFKA_BROKERS"), Problem, "a:9092: can't be reached|refused|KAFKA_BROKERS"},
		"silent":      {judgeBrokers([]seed{{addr: "a:9092", err: context.DeadlineExceeded}}, "KAFKA_BROKERS"), Problem, "no answer within 3s"},
		"password":    {judgeBrokers([]seed{{addr: "a:9092", err: kerr.SaslAuthenticationFailed}}, "KAFKA_BROKERS"), Problem, "KAFKA_PASSWORD"},
		"certificate": {judgeBrokers([]seed{{addr: "a:9092", err: x509.UnknownAuthorityError{}}}, "KAFKA_BROKERS"), Problem, "KAFKA_TLS_CA_FILE"},
		"advertised": {
			judgeBrokers([]seed{{addr: "a:9092", brokers: []advertised{{id: 1, addr: "kafka.internal:9092", err: refused}}}}, "KAFKA_BROKERS"),
			Problem, "broker 1: advertises kafka.internal:9092|refused|advertised.listeners",
		},
	})
	// One of several is no more than a warning, beside the word about the others.
	got := judgeBrokers([]seed{{addr: "a:9092", err: refused}, {addr: "b:9092", brokers: reached}}, "KAFKA_BROKERS")
	if len(got) != 2 {
		t.Fatalf("found %+v", got)
	}
	expect(t, got[:1], Warning, "a:9092")
	expect(t, got[1:], OK, "1 of 2 addresses answer")
}

// knows is a broker's answer: each request that is needed, in a version.
func knows(version func(need) int16) *kmsg.ApiVersionsResponse {
	r := kmsg.NewPtrApiVersionsResponse()
	for _, n := range needs() {
		k := kmsg.NewApiVersionsResponseApiKey()
		k.ApiKey, k.MaxVersion = n.key.Int16(), version(n)
		r.ApiKeys = append(r.ApiKeys, k)
	}
	return r
}

func TestJudgeVersions(t *testing.T) {
	t.Parallel()
	enough := knows(func(n need) int16 { return n.version })
	old := knows(func(n need) int16 {
		if n.key == kmsg.JoinGroup {
			return n.version - 1
		}
		return n.version
	})
	check(t, map[string]verdict{
		"enough":    {judgeVersions([]advertised{{id: 1, versions: enough}, {id: 2}}), OK, "know all requests that are needed, and match no known release"},
		"too old":   {judgeVersions([]advertised{{id: 1, versions: old}}), Problem, "broker 1|static members|JoinGroup 5, Kafka 2.3|update it: 2.5"},
		"too small": {judgeVersions([]advertised{{id: 1, versions: &kmsg.ApiVersionsResponse{}}}), Problem, "records with headers|transactions"},
	})
	if got := judgeVersions([]advertised{{id: 1}}); len(got) > 0 {
		t.Errorf("a broker that does not answer: %+v", got)
	}
}

func TestJudgeGrants(t *testing.T) {
	t.Parallel()
	role := acl.Role{Name: "router", Rules: []acl.Rule{
		{Resource: kmsg.ACLResourceTypeTopic, Name: "raw-events", Operation: kmsg.ACLOperationRead},
		{Resource: kmsg.ACLResourceTypeTopic, Name: "deliver.", Prefixed: true, Operation: kmsg.ACLOperationWrite},
		{Resource: kmsg.ACLResourceTypeTopic, Name: "deliver.", Prefixed: true, Operation: kmsg.ACLOperationCreate, Creates: true},
		{Resource: kmsg.ACLResourceTypeGroup, Name: "anabranch-router", Operation: kmsg.ACLOperationRead},
		{Resource: kmsg.ACLResourceTypeTransactionalId, Name: "anabranch-router-", Prefixed: true, Operation: kmsg.ACLOperationWrite},
	}}
	bits := func(ops ...kmsg.ACLOperation) int32 {
		all := int32(0)
		for _, o := range ops {
			all |= 1 << o
		}
		return all
	}
	given := func(change func(*grants)) []Finding {
		g := grants{
			topics: map[string]int32{
				"raw-events":  bits(kmsg.ACLOperationRead),
				"deliver.crm": bits(kmsg.ACLOperationWrite, kmsg.ACLOperationCreate), "deliver.mail": bits(kmsg.ACLOperationWrite, kmsg.ACLOperationCreate),
				"payments": 0, // none of our business
			},
			groups:       map[string]int32{"anabranch-router": bits(kmsg.ACLOperationRead)},
			transactions: map[string]bool{"anabranch-router-": true},
		}
		change(&g)
		return judgeGrants(g, []acl.Role{role})
	}
	check(t, map[string]verdict{
		"all":            {given(func(*grants) {}), OK, "has all permissions"},
		"untold":         {given(func(g *grants) { g.topics["raw-events"], g.groups["anabranch-router"] = untold, untold }), OK, ""},
		"nothing is yet": {given(func(g *grants) { *g = grants{} }), OK, ""},
		"topic":          {given(func(g *grants) { g.topics["raw-events"] = bits(kmsg.ACLOperationDescribe) }), Problem, "router: our principal lacks Read on topic raw-events|docs/brokers.md"},
		"one of many":    {given(func(g *grants) { g.topics["deliver.mail"] = bits(kmsg.ACLOperationCreate) }), Problem, "Write on topic deliver.*"},
		"group":          {given(func(g *grants) { g.groups["anabranch-router"] = 0 }), Problem, "Read on group anabranch-router"},
		"transactions":   {given(func(g *grants) { g.transactions["anabranch-router-"] = false }), Problem, "Write on transactional id anabranch-router-*"},
		"creating":       {given(func(g *grants) { g.topics["deliver.crm"] = bits(kmsg.ACLOperationWrite) }), Warning, "Create on topic deliver.*|create the topics beforehand"},
	})
}

func TestJudgeTopics(t *testing.T) {
	t.Parallel()
	judge := func(change func(*topicFacts), mismatches []policy.Mismatch, unchecked error) []Finding {
		raw := topicFacts{name: "raw-events", partitions: 6}
		change(&raw)
		return judgeTopics([]topicFacts{raw, {name: "payments", leaderless: 9}}, []string{"raw-events"}, mismatches, unchecked)
	}
	whole := func(*topicFacts) {}
	mismatch := policy.Mismatch{Topic: "raw-events", Setting: "retention.ms", Want: "1", Have: "2", Meaning: "less is kept", Advice: "set it"}
	grave := mismatch
	grave.Grave = true
	check(t, map[string]verdict{
		"whole":       {judge(whole, nil, nil), OK, "1 topics exist"},
		"missing":     {judge(func(f *topicFacts) { f.name = "other" }, nil, nil), Warning, "not there: raw-events|create what they need"},
		"offline":     {judge(func(f *topicFacts) { f.leaderless, f.behind = 2, 3 }, nil, nil), Problem, "raw-events: 2 of 6 partitions have no leader"},
		"behind":      {judge(func(f *topicFacts) { f.behind = 3 }, nil, nil), Warning, "3 of 6 partitions have replicas that are offline"},
		"hidden":      {judge(func(f *topicFacts) { f.err = kerr.TopicAuthorizationFailed }, nil, nil), OK, ""},
		"broken":      {judge(func(f *topicFacts) { f.err = kerr.UnknownServerError }, nil, nil), Problem, "raw-events: can't be used|look at the brokers"},
		"mismatch":    {judge(whole, []policy.Mismatch{mismatch}, nil), Warning, "retention.ms is 2, expected 1: less is kept -> set it"},
		"grave":       {judge(whole, []policy.Mismatch{grave}, nil), Problem, "retention.ms"},
		"undescribed": {judge(whole, nil, topics.ErrUndescribed), Warning, "DescribeConfigs"},
		"unchecked":   {judge(whole, nil, errors.New("too slow")), Warning, "could not be compared: too slow"},
	})
	if got := some([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}); got != "a, b, c, d, e, f, g, h and 2 more" {
		t.Errorf("many are named as %q", got)
	}
}

func TestJudgeGroups(t *testing.T) {
	t.Parallel()
	member := groups.Member{ID: "m-1", Partitions: map[string][]int32{"raw-events": {0}}}
	judge := func(state string, settled bool, bytes int, members ...groups.Member) []Finding {
		return judgeGroups([]groupFacts{{Group: groups.Group{Name: "anabranch-router", State: state, Members: members, MetadataBytes: bytes}, stage: "router", settled: settled}})
	}
	check(t, map[string]verdict{
		"stable": {judge("Stable", true, 500, member), OK, "Stable, members: 1"},
		"empty":  {judge("Empty", true, 0), Warning, "no router runs|anabranch router"},
		"absent": {judge("", true, 0), Warning, "no router runs"},
		"stuck":  {judge("PreparingRebalance", false, 0, member), Problem, "PreparingRebalance: its 1 members|INSTANCE_ID"},
		"idle":   {judge("Stable", true, 0, member, groups.Member{ID: "m-2", InstanceID: "router-b"}), Warning, "1 of 2 members have no partitions: router-b"},
	})
	for bytes, level := range map[int]Level{recordLimit * 4 / 5: Warning, recordLimit + 1: Problem} {
		got := judge("Stable", true, bytes, member)
		if len(got) != 2 {
			t.Fatalf("%d bytes: %+v", bytes, got)
		}
		expect(t, got[1:], level, "subscriptions and assignments of 1 members|run fewer")
	}
}

// What our principal may not see is no fault of the cluster's.
func TestUnable(t *testing.T) {
	t.Parallel()
	check(t, map[string]verdict{
		"slow":    {[]Finding{unable(CheckGroups, context.DeadlineExceeded)}, Problem, "could not be checked|check again"},
		"new":     {[]Finding{unable(CheckGroups, kerr.CoordinatorNotAvailable)}, Problem, "half a minute"},
		"hidden":  {[]Finding{unable(CheckGroups, kerr.GroupAuthorizationFailed)}, Warning, "role status"},
		"refused": {[]Finding{unable(CheckWorkspace, kerr.SaslAuthenticationFailed)}, Problem, "KAFKA_PASSWORD"},
	})
}

func TestJudgeClock(t *testing.T) {
	t.Parallel()
	check(t, map[string]verdict{
		"no events":     {judgeClock(clockFacts{now: noon, synchronised: true}), OK, "no problem found"},
		"past":          {judgeClock(clockFacts{now: noon, newest: noon.Add(-time.Hour), synchronised: true}), OK, ""},
		"a little late": {judgeClock(clockFacts{now: noon, newest: noon.Add(clockPatience), synchronised: true}), OK, ""},
		"future":        {judgeClock(clockFacts{now: noon, newest: noon.Add(2 * time.Minute), synchronised: true}), Problem, "2m in the future|chrony"},
		"not kept":      {judgeClock(clockFacts{now: noon}), Warning, "not synchronised"},
	})
}

func TestJudgeMachine(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	check(t, map[string]verdict{
		"files":             {judgeFiles(10_000, 5_000, 1_024), OK, "may open 10000 files, and about 6280"},
		"files, any number": {judgeFiles(math.MaxUint64, 5_000, 1_024), OK, "any number of"},
		"files, not known":  {judgeFiles(0, 5_000, 1_024), OK, "not known"},
		"files, few":        {judgeFiles(1_024, 5_000, 1_024), Warning, "may open 1024 files|ulimit -n"},
		"memory, free":      {judgeMemory(0, 0), OK, "no control group"},
		"memory, enough":    {judgeMemory(gib, 0), OK, "allows 1024MiB, and 256MiB are enough"},
		"memory, too much":  {judgeMemory(gib, 2*gib), Problem, "2048MiB, above the 1024MiB|921MiB"},
		"memory, told":      {judgeMemory(gib, gib/2), OK, "allows 1024MiB"},
		"memory, small":     {judgeMemory(100<<20, 90<<20), Warning, "allows 100MiB|allow 256MiB; or set GOMEMLIMIT to 90MiB"},
		"data":              {judgeData(dataFacts{dir: "d", free: 3 * gib}, gib), OK, "can be written to, its disk has 3072MiB"},
		"data, not there":   {judgeData(dataFacts{dir: "d", free: 3 * gib, missing: true}, gib), OK, "is created when"},
		"data, refused":     {judgeData(dataFacts{dir: "d", err: os.ErrPermission}, gib), Problem, "DATA_DIR=d|permission denied"},
		"data, full":        {judgeData(dataFacts{dir: "d", free: 1 << 20}, gib), Problem, "1MiB left|503"},
		"data, little":      {judgeData(dataFacts{dir: "d", free: gib / 2}, gib), Warning, "512MiB left, and the log may grow to about 1024MiB"},
		"settings":          {judgeSettings(nil, nil), OK, "each can work"},
		"settings, unknown": {judgeSettings(map[string]string{"INGEST_ADR": "INGEST_ADDR"}, nil), Warning, "INGEST_ADR: is no setting|did you mean INGEST_ADDR?|help config"},
	})
}

func TestTheControlGroupsLimit(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put := func(file, text string) {
		t.Helper()
		file = filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := func(n int64) {
		t.Helper()
		if got := groupLimit(root); got != n {
			t.Errorf("limit %d, want %d", got, n)
		}
	}
	want(0)
	put("proc/self/cgroup", "1:cpu:/elsewhere\n0::/system.slice/anabranch.service\n")
	want(0)
	put("sys/fs/cgroup/system.slice/anabranch.service/memory.max", "max\n")
	want(0)
	put("sys/fs/cgroup/system.slice/memory.max", "1073741824\n")
	want(1 << 30)
	put("sys/fs/cgroup/system.slice/anabranch.service/memory.max", "536870912\n")
	want(1 << 29)
	put("proc/self/cgroup", "0::/../../system.slice\n")
	want(1 << 30)
}

func TestLookAtData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if got := lookAtData(dir); got.err != nil || got.missing || got.free == 0 {
		t.Errorf("a directory: %+v", got)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	if got := lookAtData(filepath.Join(dir, "a", "b")); got.err != nil || !got.missing {
		t.Errorf("one that is still to be made: %+v", got)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := lookAtData(file); got.err == nil {
		t.Errorf("a file: %+v", got)
	}
}

// source and destination make the parts of workspaces.
func source(id string, enabled bool) workspace.Source {
	return workspace.Source{ID: id, Enabled: enabled, WriteKeyHash: workspace.HashWriteKey(id)}
}

func destination(id string, enabled bool, sources []string, urls ...string) workspace.Destination {
	d := workspace.Destination{ID: id, Type: workspace.TypeWebhooks, Enabled: enabled, Sources: sources}
	for _, url := range urls {
		d.Endpoints = append(d.Endpoints, workspace.Endpoint{URL: url})
	}
	return d
}

func TestJudgeWorkspace(t *testing.T) {
	t.Parallel()
	web, crm := source("web", true), destination("crm", true, []string{"web"})
	judge := func(sources []workspace.Source, destinations ...workspace.Destination) []Finding {
		return judgeWorkspace(workspace.NewSnapshot(sources, destinations), false)
	}
	check(t, map[string]verdict{
		"whole":             {judge([]workspace.Source{web}, crm), OK, "1 source, 1 destination, each connected"},
		"empty":             {judge(nil), Warning, "the workspace is empty|anabranch apply"},
		"emptied":           {judgeWorkspace(workspace.NewSnapshot(nil, nil), true), Warning, "an empty one was applied"},
		"source off":        {judge([]workspace.Source{web, source("app", false)}, crm), Warning, "source app: is switched off|401"},
		"source to nowhere": {judge([]workspace.Source{web, source("app", true)}, crm), Warning, "source app: no enabled destination"},
		"destination off":   {judge([]workspace.Source{web}, crm, destination("old", false, []string{"web"})), Warning, "destination old: is switched off|dead-letters"},
		"destination paused": {judgeWorkspace((&workspace.Document{
			Sources: []workspace.Source{web}, Destinations: []workspace.Destination{crm}, Pauses: map[string]workspace.Pause{"crm": {By: "ada", Since: noon}},
		}).Snapshot(), false), Warning, "destination crm: its deliveries are paused since|by ada|destinations resume crm"},
		"destination of nothing": {judge([]workspace.Source{web}, crm, destination("new", true, nil)), Warning, "destination new: no source"},
	})
}

// names answers look-ups from a table, and counts.
type names map[string][]netip.Addr

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if addrs, known := n[host]; known {
		return addrs, nil
	}
	return nil, errors.New("server misbehaving")
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	public, private := netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("10.1.2.3")
	table := names{"public.test": {public}, "private.test": {private}, "both.test": {private, public}, "mapped.test": {netip.MustParseAddr("::ffff:10.1.2.3")}}
	permit := func(to netip.AddrPort) error {
		if to.Addr() == private && to.Port() != 8082 {
			return errors.New("refused")
		}
		return nil
	}
	judge := func(url string) []Finding {
		s := workspace.NewSnapshot(nil, []workspace.Destination{destination("crm", true, nil, url), destination("off", false, nil, "http://nowhere.test/")})
		found, beyond := lookAtEndpoints(t.Context(), table, s)
		return judgeEndpoints(found, beyond, permit)
	}
	check(t, map[string]verdict{
		"public":      {judge("https://public.test/hook"), OK, "1 endpoints resolve"},
		"private":     {judge("http://user:canary@private.test/hook?token=canary"), Warning, "destination crm: http://private.test/hook is at 10.1.2.3, where deliveries may not go|WEBHOOK_SINK_ALLOW_NETWORKS"},
		"our own":     {judge("http://private.test:8082/"), OK, ""},
		"one of both": {judge("https://both.test/"), OK, ""},
		"mapped":      {judge("https://mapped.test/"), Warning, "at 10.1.2.3"},
		"no name":     {judge("https://nobody.test/hook?token=canary"), Warning, "the host of https://nobody.test/hook does not resolve here: server misbehaving"},
		"no host":     {judge("https:///hook"), Warning, "no host"},
		"no port":     {judge("https://public.test:99999/"), Warning, "impossible port"},
	})
	if text := judge("http://user:canary@private.test/?canary")[0].Found; strings.Contains(text, "canary") {
		t.Errorf("a secret is shown: %s", text)
	}
}

func TestManyEndpoints(t *testing.T) {
	t.Parallel()
	var all []workspace.Destination
	for range maxLookups/workspace.MaxEndpoints + 2 {
		id := "d" + strings.Repeat("x", len(all))
		all = append(all, destination(id, true, nil, "http://a.test/", "http://a.test/", "http://a.test/", "http://a.test/", "http://a.test/"))
	}
	found, beyond := lookAtEndpoints(t.Context(), names{"a.test": {netip.MustParseAddr("8.8.8.8")}}, workspace.NewSnapshot(nil, all))
	if len(found) != maxLookups || beyond != 2*workspace.MaxEndpoints {
		t.Errorf("%d were looked up, %d were not", len(found), beyond)
	}
	expect(t, judgeEndpoints(found, beyond, func(netip.AddrPort) error { return nil }), OK, "500 endpoints|10 more were not looked up")
}

func TestDiagnosisCounts(t *testing.T) {
	t.Parallel()
	f := &findings{check: CheckFiles}
	f.ok("", "fine")
	f.warn("a", "b", "c")
	f.problem("a", "b", "c")
	d := diagnose(noon, append(f.all, f.all[1]))
	if d.Problems != 1 || d.Warnings != 2 || d.String() != "1 problem, 2 warnings" {
		t.Errorf("%+v: %s", d, d)
	}
	if got := diagnose(noon, f.all[:1]).String(); got != "all is well" {
		t.Errorf("all is well is said as %q", got)
	}
	if diff := cmp.Diff(Finding{Check: CheckFiles, About: "a", Level: Warning, Found: "b", Do: "c"}, f.all[1]); diff != "" {
		t.Error(diff)
	}
}
