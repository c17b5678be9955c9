package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
)

const (
	lookupTime  = 3 * time.Second
	lookupLimit = 16
	// maxLookups bounds the endpoints that are looked up: a workspace may have tens of
	// thousands.
	maxLookups = 500
)

// endpointFacts is what an endpoint's host resolves to.
type endpointFacts struct {
	destination string
	url         string // as people may see it
	port        uint16
	addrs       []netip.Addr
	err         error
}

// resolver is *net.Resolver but in tests.
type resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// lookAtEndpoints resolves the hosts of the endpoints of enabled destinations, as
// many as time and a bound allow. The second result is how many there were beyond.
func lookAtEndpoints(ctx context.Context, names resolver, s *workspace.Snapshot) (found []endpointFacts, beyond int) {
	var hosts []string
	for _, d := range s.Destinations() {
		if !d.Enabled {
			continue
		}
		for _, e := range d.Endpoints {
			if len(found) == maxLookups {
				beyond++
				continue
			}
			host, port, err := target(e.URL)
			found = append(found, endpointFacts{destination: d.ID, url: e.SafeURL(), port: port, err: err})
			hosts = append(hosts, host)
		}
	}
	timed, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	var all sync.WaitGroup
	slots := make(chan struct{}, lookupLimit)
	for i := range found {
		if found[i].err != nil {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			found[i].addrs, found[i].err = names.LookupNetIP(timed, "ip", hosts[i])
			<-slots
		})
	}
	all.Wait()
	return found, beyond
}

// target is the host and the port of a URL. The error does not show it.
func target(text string) (host string, port uint16, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return "", 0, errors.New("its URL has no host")
	}
	port = 80
	if u.Scheme == "https" {
		port = 443
	}
	if u.Port() != "" {
		n, err := strconv.ParseUint(u.Port(), 10, 16)
		if err != nil {
			return "", 0, errors.New("its URL has an impossible port")
		}
		port = uint16(n)
	}
	return u.Hostname(), port, nil
}

// judgeWorkspace judges whether what is in force can do anything.
func judgeWorkspace(s *workspace.Snapshot, applied bool) []Finding {
	f := &findings{check: CheckWorkspace}
	if len(s.Sources()) == 0 && len(s.Destinations()) == 0 {
		do := "`anabranch apply -f workspace.yaml` puts one in force"
		if applied {
			do = "an empty one was applied; " + do
		}
		f.warn("", "the workspace is empty: every write key is unknown", do)
		return f.all
	}
	for _, source := range s.Sources() {
		switch {
		case !source.Enabled:
			f.warn("source "+source.ID, "is switched off: its calls are answered 401", "switch it on, or remove it")
		case len(s.Listeners(source.ID)) == 0:
			f.warn("source "+source.ID, "no enabled destination is connected to it: its calls are taken in and go nowhere", "name it in the sources of a destination")
		}
	}
	for _, d := range s.Destinations() {
		if p, paused := s.Paused(d.ID); paused {
			f.warn("destination "+d.ID, "its deliveries are paused "+p.String()+": its events wait", "`anabranch destinations resume "+d.ID+"` has it delivered to")
		}
		switch {
		case !d.Enabled:
			f.warn("destination "+d.ID, "is switched off: events that were routed to it go to dead-letters", "switch it on, or remove it")
		case len(d.Sources) == 0:
			f.warn("destination "+d.ID, "no source is connected to it", "name one in its sources")
		}
	}
	return f.otherwise(s.String() + ", each connected")
}

// judgeEndpoints judges whether deliveries can leave for the addresses of endpoints;
// permit tells what the guard of addresses says under the settings of this process.
func judgeEndpoints(endpoints []endpointFacts, beyond int, permit func(netip.AddrPort) error) []Finding {
	f := &findings{check: CheckWorkspace}
	for i := range endpoints {
		e := &endpoints[i]
		about := "destination " + e.destination
		if e.err != nil {
			f.warn(about, fmt.Sprintf("the host of %s does not resolve here: %s", e.url, lookupFault(e.err)), "fix the URL or the name servers; deliveries fail with network until then")
			continue
		}
		if refused := e.refused(permit); len(refused) == len(e.addrs) {
			f.warn(about, fmt.Sprintf("%s is at %s, where deliveries may not go", e.url, strings.Join(refused, ", ")),
				"use a public address, or open its network with WEBHOOK_SINK_ALLOW_NETWORKS where the sink runs")
		}
	}
	found := fmt.Sprintf("the hosts of %d endpoints resolve to addresses that deliveries may go to", len(endpoints))
	if beyond > 0 {
		found += fmt.Sprintf("; %d more were not looked up", beyond)
	}
	return f.otherwise(found)
}

func (e *endpointFacts) refused(permit func(netip.AddrPort) error) []string {
	var refused []string
	for _, addr := range e.addrs {
		if permit(netip.AddrPortFrom(addr.Unmap(), e.port)) != nil {
			refused = append(refused, addr.Unmap().String())
		}
	}
	return refused
}

// lookupFault is short: the error of the library names the servers too.
func lookupFault(err error) string {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		switch {
		case dns.IsNotFound:
			return "no such host"
		case dns.IsTimeout:
			return "name servers do not answer"
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "name servers do not answer"
	}
	return err.Error()
}
