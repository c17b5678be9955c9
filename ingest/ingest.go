package ingest

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/service"
)

// Ingest is the stage. It is made by New and runs once.
type Ingest struct {
	log      *slog.Logger
	producer *producer
	prober   *prober
	handler  *handler
	server   *service.HTTPServer
}

// New binds INGEST_ADDR and returns a stage that has not yet spoken to a
// broker. Requests that come before Run wait in the listener's queue.
func New(cfg Config, set Settings) (*Ingest, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	m := newMetrics(set.Registerer)
	p, err := newProducer(cfg, set, m.latency)
	if err != nil {
		return nil, err
	}
	listener, err := service.Listen(context.Background(), "INGEST_ADDR", cfg.Addr)
	if err != nil {
		p.client.Close()
		return nil, err
	}
	in := &Ingest{
		log:      set.Logger,
		producer: p,
		prober:   &prober{producer: p, topics: set.Topics, log: set.Logger},
		handler:  newHandler(set.Workspace, p, m, &refusalLog{log: set.Logger, now: time.Now}),
	}
	in.server = service.NewHTTPServer(in.Name(), listener, in.handler, set.Logger)
	in.server.WriteTimeout = answerTimeout + cfg.ProduceTimeout
	return in, nil
}

// answerTimeout bounds a request beside its wait for the brokers: the fifteen
// seconds that the server gives it to arrive, and the time to take the answer.
const answerTimeout = 25 * time.Second

// Name implements the stage's contract.
func (in *Ingest) Name() string { return "ingest" }

// Addr is the bound address, host:port.
func (in *Ingest) Addr() string { return in.server.Addr() }

// Ready returns nil while the brokers answer and raw-events exists: a call sent
// now is taken in.
func (in *Ingest) Ready() error {
	_, err := in.producer.link.open()
	return err
}

// flushTimeout bounds the last try for what requests that were answered 503
// have left behind.
const flushTimeout = 2 * time.Second

// Run serves until ctx ends. Requests in hand are then finished, for as long as
// the server's grace lasts, before the client is flushed and closed.
func (in *Ingest) Run(ctx context.Context) error {
	// The requests in hand need to know of an outage too.
	probing, stop := context.WithCancel(context.WithoutCancel(ctx))
	var prober sync.WaitGroup
	prober.Go(func() { in.prober.run(probing) })
	err := in.server.Run(ctx)
	stop()
	prober.Wait()
	in.close(context.WithoutCancel(ctx))
	return err
}

func (in *Ingest) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if err := in.producer.client.Flush(ctx); err != nil {
		in.log.Warn("events left in the client are given up; their requests were answered 503", "error", err)
	}
	in.producer.client.Close()
}
