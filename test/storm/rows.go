package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anabranch/anabranch/test/storm/clientfaults"
	"github.com/anabranch/anabranch/test/storm/fleetfaults"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/receiverfaults"
	"github.com/anabranch/anabranch/test/storm/stagefaults"
)

// rows lists the kinds of faults. What each promises stands in the bounds that it
// is judged by.
func rows() []lab.Row {
	return []lab.Row{
		{Name: "kill-process", About: "kill -9 of the whole process with its broker, under HTTP calls", Short: true, Embedded: true, Run: stagefaults.KillProcess},
		{Name: "kill-router", About: "kill -9 of the router: nothing lost, nothing doubled", Short: true, Run: stagefaults.KillRouter},
		{Name: "kill-sink", About: "kill -9 of the sink: nothing lost, repeats within what was in flight", Short: true, Run: stagefaults.KillSink},
		{Name: "kill-import", About: "kill -9 of an import, and of ingest and router: each row accepted or refused, delivered once", Short: true, Run: clientfaults.KillImport},
		{Name: "kill-replay", About: "kill -9 of whole processes under a replay: each event sent once by it, live ones unharmed", Short: true, Run: stagefaults.KillReplay},
		{Name: "replay-beside", About: "a replay at full rate, paused and resumed, beside live events of its destination: they keep their latency", Run: stagefaults.ReplayBeside},
		{Name: "kill-archive", About: "kill -9 of the stage that archives: each event in one object, once", Short: true, Run: stagefaults.KillArchive},
		{Name: "roll-sink", About: "rolling restarts of three sinks with retries in flight: nothing lost, nothing doubled", Short: true, Run: stagefaults.RollSink},
		{Name: "join-leave", About: "twelve sinks joining and leaving: nothing lost, nothing doubled", Run: stagefaults.JoinLeave},
		{Name: "kill-personas", About: "kill -9, SIGSTOP and empty disks of personas: each change told once, as the log has it", Short: true, Run: stagefaults.KillPersonas},
		{Name: "cut-personas", About: "networks of personas cut, and silent: each change told once, as the log has it", Run: stagefaults.CutPersonas},
		{Name: "join-personas", About: "one to four processes of personas joining and leaving: each change told once, as the log has it", Run: stagefaults.JoinPersonas},
		{Name: "static-personas", About: "personas restarted under names that they keep: no partition moves, and each change told once", Kafka: true, Run: stagefaults.StaticPersonas},
		{Name: "told-personas", About: "how soon a webhook tells of a change, also while audiences are filled from the past", Run: stagefaults.ToldPersonas},
		{Name: "broker-kill-personas", About: "kill -9 of the broker under personas: each change told once, as the log has it", Kills: true, Run: stagefaults.BrokerKillPersonas},
		{Name: "broker-stop", About: "the broker says nothing for some seconds: nothing lost", Holds: true, Run: stagefaults.BrokerStop},
		{Name: "broker-kill", About: "kill -9 of the broker in cycles, under calls: nothing lost, and no partition stands still afterwards", Kills: true, Run: stagefaults.BrokerKill},
		{Name: "kill-intake", About: "kill -9 of ingest, router or both under a client that sends again: what it was told is accepted arrives, in order", Short: true, Run: clientfaults.KillIntake},
		{Name: "brokers-away", About: "brokers silent or killed under calls: 503 in time, accepted again in time, memory bounded", Holds: true, Run: clientfaults.BrokersAway},
		{Name: "hostile-clients", About: "slow and malicious clients: others keep their latency, memory is bounded", Run: clientfaults.HostileClients},
		{Name: "half-bodies", About: "hundreds of half bodies without a key: batches of others find room", Run: clientfaults.HalfBodies},
		{Name: "new-destinations", About: "destinations added under load start within three seconds, with no gap for others", Short: true, Run: stagefaults.NewDestinations},
		{Name: "topic-anew", About: "a destination's topic deleted under load and made anew: nothing of the new one lost, the other destination unharmed", Short: true, Run: stagefaults.TopicAnew},
		{Name: "scale-6", About: "1, 2 and 4 routers and sinks on 6 partitions: an event costs the same", Run: fleetfaults.Scale(6)},
		{Name: "scale-12", About: "the same on 12 partitions", Run: fleetfaults.Scale(12)},
		{Name: "scale-24", About: "the same on 24 partitions", Run: fleetfaults.Scale(24)},
		{Name: "journal", About: "router and sink with the journal and without it in turn: what it costs an event", Run: fleetfaults.Compare(fleetfaults.Comparison{
			With: "JOURNAL=true", Without: "JOURNAL=false", Router: 1.05, Sink: 1.10,
		})},
		{Name: "copies", About: "router with its memory of calls and without it in turn: what it costs an event", Run: fleetfaults.Compare(fleetfaults.Comparison{
			With: "ROUTER_DEDUP_WINDOW=24h", Without: "ROUTER_DEDUP_WINDOW=0", Router: 2,
		})},
		{Name: "static", About: "routers and sinks restarted under names that they keep: no partition moves", Kafka: true, Run: fleetfaults.Static},
		{Name: "come-and-go", About: "routers and sinks joining and leaving: nothing lost, nothing doubled, taken over at once", Run: fleetfaults.ComeAndGo},
		{Name: "upgrade", About: "each process replaced by one of the new version and back, under a client: nothing lost, nothing dead", Upgrade: true, Run: fleetfaults.Upgrade},
		{Name: "hang-10-of-50", About: "ten of fifty destinations hang: the others keep their latency", Run: receiverfaults.Hang10of50},
		{Name: "dead-200-of-1000", About: "two hundred of a thousand destinations dead: the others keep their latency, memory is bounded", Run: receiverfaults.Dead200of1000},
		{Name: "hostile-64", About: "64 misbehaving receivers: memory, descriptors and goroutines are bounded", Run: receiverfaults.Hostile64},
		{Name: "receiver-down", About: "a receiver refuses for a while and comes back: nothing lost, a calm return", Run: receiverfaults.ReceiverDown},
		{Name: "busy-user", About: "one user has more events than its receiver takes one at a time: the other users keep their latency", Run: receiverfaults.BusyUser},
		{Name: "five-endpoints-one-dead", About: "one endpoint of five hangs: a few timeouts, then nothing until its probe", Run: receiverfaults.FiveEndpointsOneDead},
	}
}

// selectRows finds rows by their names; none means all that the form has.
func selectRows(names string, short bool) ([]lab.Row, error) {
	all := rows()
	if names == "" {
		return slices.DeleteFunc(all, func(r lab.Row) bool { return short && !r.Short }), nil
	}
	var chosen []lab.Row
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(r lab.Row) bool { return r.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("-rows: no row %q; -list shows them", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
