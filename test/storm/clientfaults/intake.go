package clientfaults

import (
	"context"

	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
)

// intake is the path of a call, each stage in a process of its own.
type intake struct {
	ingest, router, sink *child.Process
	base                 string // of the collection API
}

// newIntake starts the stages, with one destination that answers at once.
func newIntake(ctx context.Context, l *lab.Lab) (*intake, error) {
	if err := l.Open(ctx, 6); err != nil {
		return nil, err
	}
	to, err := l.Receivers(ctx, 1)
	if err != nil {
		return nil, err
	}
	l.Destination("calls", 1, to[0].URL())
	if err = l.Apply(ctx); err != nil {
		return nil, err
	}
	addr, err := child.FreeAddr()
	if err != nil {
		return nil, err
	}
	in := &intake{base: "http://" + addr}
	for target, p := range map[string]**child.Process{"ingest": &in.ingest, "router": &in.router, "webhook-sink": &in.sink} {
		if *p, err = l.Stage(target, 0, "INGEST_ADDR="+addr); err != nil {
			return nil, err
		}
		if err = (*p).Start(); err != nil {
			return nil, err
		}
	}
	for _, p := range in.all() {
		if err = p.Ready(ctx); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// all are the stages in the order in which they are stopped.
func (in *intake) all() []*child.Process { return []*child.Process{in.ingest, in.router, in.sink} }
