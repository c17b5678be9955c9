package app

import (
	"context"
	"fmt"
	"io"

	"github.com/anabranch/anabranch/internal/receiver"
	"github.com/anabranch/anabranch/internal/service"
	"github.com/anabranch/anabranch/internal/workspace"
)

// receiver is the built-in receiver of the example workspace.
func (r *run) receiver(p *plumbing) service.Service {
	handler := receiver.New(r.Out, workspace.ExampleSharedSecret, r.Color)
	return service.NewHTTPServer("receiver", p.receiverPort, handler, p.log)
}

// receiverURL is where the example workspace delivers to.
func (p *plumbing) receiverURL() string {
	return "http://" + p.receiverPort.Addr().String() + "/"
}

// greet tells that everything is ready: `run` tells the person at the terminal,
// and what to type; a stage by itself tells its log.
func (r *run) greet(p *plumbing) error {
	if r.target != TargetRun {
		r.Log.Info("ready", "target", r.target, "admin", p.adminPort.Addr().String(), "collect", p.collect())
		return nil
	}
	if _, err := io.WriteString(r.Out, p.startText()); err != nil {
		return fmt.Errorf("print the start-up text: %w", err)
	}
	return nil
}

// greeting is the last service to start.
type greeting struct{ greet func() error }

// Name is the service's name in logs.
func (g *greeting) Name() string { return "greeting" }

// Run greets and waits for ctx to end.
func (g *greeting) Run(ctx context.Context) error {
	if err := g.greet(); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
