package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
)

// reachTime bounds the look at one broker.
const reachTime = 3 * time.Second

// seed is an address from the settings and what came of it.
type seed struct {
	addr    string
	err     error
	took    time.Duration
	brokers []advertised
}

// advertised is a broker under the address that it tells its clients to use.
type advertised struct {
	id       int32
	addr     string
	err      error
	versions *kmsg.ApiVersionsResponse
}

// lookAtBrokers asks every address from the settings for the brokers it knows, and
// then every broker under the address that it advertises. Stages speak to the
// latter: a first answer that names an address from inside a container or behind a
// proxy is how most set-ups fail.
func lookAtBrokers(ctx context.Context, opts []kgo.Opt, addrs []string) []seed {
	seeds := make([]seed, len(addrs))
	var all sync.WaitGroup
	for i, addr := range addrs {
		all.Go(func() { seeds[i] = lookAtSeed(ctx, opts, addr) })
	}
	all.Wait()
	return seeds
}

func lookAtSeed(ctx context.Context, opts []kgo.Opt, addr string) seed {
	s := seed{addr: addr}
	// With retries the client would say that time ran out; without, why.
	cl, err := kgo.NewClient(append(slices.Clone(opts), kgo.SeedBrokers(addr), kgo.RequestRetries(0))...)
	if err != nil {
		s.err = err
		return s
	}
	defer cl.Close()
	timed, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	began := time.Now()
	answer, err := cl.SeedBrokers()[0].Request(timed, metadataOfNothing())
	s.took = time.Since(began)
	if err != nil {
		s.err = err
		return s
	}
	// The client learns the brokers from a request of its own.
	if err := cl.Ping(timed); err != nil {
		s.err = err
	}
	s.brokers = lookAtAdvertised(ctx, cl, answer.(*kmsg.MetadataResponse).Brokers)
	return s
}

func metadataOfNothing() *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // nil would be all
	return req
}

func lookAtAdvertised(ctx context.Context, cl *kgo.Client, brokers []kmsg.MetadataResponseBroker) []advertised {
	found := make([]advertised, len(brokers))
	var all sync.WaitGroup
	for i, b := range brokers {
		all.Go(func() {
			a := &found[i]
			a.id, a.addr = b.NodeID, net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
			timed, cancel := context.WithTimeout(ctx, reachTime)
			defer cancel()
			a.versions, a.err = versionsOf(timed, cl.Broker(int(b.NodeID)))
		})
	}
	all.Wait()
	slices.SortFunc(found, func(a, b advertised) int { return cmp.Compare(a.id, b.id) })
	return found
}

func versionsOf(ctx context.Context, broker *kgo.Broker) (*kmsg.ApiVersionsResponse, error) {
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "anabranch", "doctor" // brokers refuse a client without
	answer, err := broker.Request(ctx, req)
	if err != nil {
		return nil, err
	}
	versions := answer.(*kmsg.ApiVersionsResponse)
	return versions, kerr.ErrorForCode(versions.ErrorCode)
}

// known returns each broker once, as the first seed that answered knows it.
func known(seeds []seed) []advertised {
	for i := range seeds {
		if len(seeds[i].brokers) > 0 {
			return seeds[i].brokers
		}
	}
	return nil
}

// judgeBrokers judges whether clients that are given the seeds, by the setting that
// variable names, can work.
func judgeBrokers(seeds []seed, variable string) []Finding {
	f := &findings{check: CheckBrokers}
	answered := 0
	for i := range seeds {
		s := &seeds[i]
		if len(s.brokers) > 0 {
			answered++
			continue
		}
		f.problem(s.addr, "can't be reached: "+cause(s.err), cmp.Or(kafka.FirstAdvice(s.err), "start it, or name another in "+variable))
	}
	if answered > 0 && answered < len(seeds) {
		// The others are enough to work with, until one of those is away.
		for i := range f.all {
			f.all[i].Level = Warning
		}
	}
	brokers := known(seeds)
	reached := 0
	for i := range brokers {
		b := &brokers[i]
		if b.err == nil {
			reached++
			continue
		}
		f.problem(fmt.Sprintf("broker %d", b.id), fmt.Sprintf("advertises %s, which can't be reached from here: %s", b.addr, cause(b.err)),
			cmp.Or(kafka.Advice(b.err), "set advertised.listeners of the broker to an address that clients can reach, and check name servers and firewalls"))
	}
	if reached > 0 && reached == len(brokers) {
		f.ok("", fmt.Sprintf("%d of %d addresses answer, the slowest after %s; so do all %d brokers under the addresses they advertise",
			answered, len(seeds), slowest(seeds).Round(time.Millisecond), len(brokers)))
	}
	return f.all
}

// judgeEmbedded judges whether it is an embedded broker that answers, and whether it
// was meant to.
func judgeEmbedded(embedded, meant bool) []Finding {
	f := &findings{check: CheckBrokers}
	if embedded && !meant {
		f.warn("", "KAFKA_BROKERS names the embedded broker of an `anabranch run`: one process with one copy of the data, for trying things out",
			"leave KAFKA_BROKERS empty and set DATA_DIR to that of the process, which `anabranch doctor` then looks at too; for more than a trial, run Apache Kafka")
	}
	return f.all
}

func slowest(seeds []seed) time.Duration {
	longest := time.Duration(0)
	for i := range seeds {
		longest = max(longest, seeds[i].took)
	}
	return longest
}

// cause is an error without what a deadline of ours makes of it.
func cause(err error) string {
	switch {
	case err == nil:
		return "no answer"
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no answer within %s", reachTime)
	default:
		return err.Error()
	}
}
