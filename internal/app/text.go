package app

import (
	"fmt"
	"strings"

	"github.com/anabranch/anabranch/internal/console"
	"github.com/anabranch/anabranch/internal/workspace"
)

// startText says what listens where and, while the example workspace is in
// force, what to paste for a first call.
func (p *plumbing) startText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nAnabranch is ready.\n\n")
	fmt.Fprintf(&b, "  collection API   http://%s/v1/\n", p.collect())
	fmt.Fprintf(&b, "  metrics, health  http://%s/metrics, /readyz\n", p.adminPort.Addr())
	if p.cfg.Console {
		fmt.Fprintf(&b, "  console          http://%s%s\n", p.adminPort.Addr(), console.Page().Path)
	}
	if p.tokenFile != "" {
		fmt.Fprintf(&b, "  /regulations     asks for the token in %s\n", p.tokenFile)
	}
	if p.broker != nil {
		fmt.Fprintf(&b, "  embedded broker  %s, data and password in %s\n", p.broker.Addr(), p.cfg.DataDir)
	} else {
		fmt.Fprintf(&b, "  brokers          %s\n", strings.Join(p.brokers.Brokers, ","))
	}
	if !p.exampleInForce() {
		return b.String() + "\n"
	}
	fmt.Fprintf(&b, "  webhook receiver %s (signed deliveries are printed below)\n\n", p.receiverURL())
	fmt.Fprintf(&b, "Send a first call:\n\n")
	fmt.Fprintf(&b, "  curl -u %s: http://%s/v1/track -d '{\"userId\":\"u1\",\"event\":\"Signed Up\",\"properties\":{\"plan\":\"pro\"}}'\n\n", workspace.ExampleWriteKey, p.collect())
	return b.String()
}

// exampleInForce reports whether a call with the example's key reaches the
// built-in receiver. A workspace that people applied may use the same key.
func (p *plumbing) exampleInForce() bool {
	s := p.live.Load()
	source, ok := s.SourceByKey(workspace.ExampleWriteKey)
	if !ok || p.receiverPort == nil {
		return false
	}
	for _, d := range s.Listeners(source.ID) {
		for _, e := range d.Endpoints {
			if e.URL == p.receiverURL() {
				return true
			}
		}
	}
	return false
}
