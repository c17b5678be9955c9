package app

import (
	"net/netip"

	"github.com/anabranch/anabranch/internal/console"
	"github.com/anabranch/anabranch/router"
	"github.com/anabranch/anabranch/router/replay"
	webhooksink "github.com/anabranch/anabranch/webhook-sink"
)

// console is the pages for people on the admin address of a process that keeps a workspace
// file in force, or none.
func (p *plumbing) console(workspaceFile string) *console.Console {
	sink := p.sink()
	set := console.Settings{
		Logger: p.log.With("stage", "console"), Version: version(), Workspace: p.live, Way: p.cfg.Stages.Way(),
		Questions: console.FromBrokers(&console.Brokers{
			Kafka: p.options("console"), Topics: p.topics, Addresses: p.brokers.Brokers, Stages: p.cfg.Stages, Workspace: p.live,
			Keys: p.cfg.SuppressionKeys(), Sender: p.sender, Publisher: p.publisher(), Judge: func() replay.Judge { return new(router.Judge) },
			Permit: p.cfg.Stages.Permit(p.receiverPeer()...),
		}),
		Token: p.cfg.AdminToken, Open: p.consoleOpen(), Proxies: p.cfg.TrustedProxies, PersonHeader: p.cfg.PersonHeader,
		ReadOnly: p.cfg.ConsoleReadOnly, WorkspaceFile: workspaceFile,
	}
	if sink != nil {
		set.Sink, set.Answers, set.Endpoints = true, sink.Answers(), sink.Endpoints
	}
	return console.New(set)
}

// sink is the webhook sink of this process; nil: there is none.
func (p *plumbing) sink() *webhooksink.Sink {
	for _, m := range p.made {
		if sink, is := m.Stage.(*webhooksink.Sink); is {
			return sink
		}
	}
	return nil
}

// consoleOpen reports whether people on this machine may look at the console without a login:
// where nobody else can reach it, and nobody has said what to log in with.
func (p *plumbing) consoleOpen() bool {
	addr, err := netip.ParseAddrPort(p.adminPort.Addr().String())
	return err == nil && addr.Addr().Unmap().IsLoopback() && (p.cfg.AdminToken == "" || p.tokenFile != "")
}
