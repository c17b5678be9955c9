package ingest

import (
	"context"
	"sync"
	"time"

	"github.com/anabranch/anabranch/ingest/internal/metrics"
	"github.com/anabranch/anabranch/ingest/internal/store"
	"github.com/anabranch/anabranch/internal/service"
)

// Ingest is the stage. It is made by New and runs once.
type Ingest struct {
	store   *store.Store
	handler *handler
	server  *service.HTTPServer
}

// New binds INGEST_ADDR and returns a stage that has not yet spoken to a
// broker. Requests that come before Run wait in the listener's queue.
func New(cfg Config, set Settings) (*Ingest, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	encryption, err := serverTLS(cfg.TLSCertFile, cfg.TLSKeyFile, set.Logger)
	if err != nil {
		return nil, err
	}
	counted := metrics.New(set.Registerer, set.Logger)
	records, err := store.New(store.Options{
		Logger:     set.Logger,
		Latency:    counted.Latency(),
		Kafka:      set.Kafka,
		Topics:     set.Topics,
		Full:       set.Full,
		Timeout:    cfg.ProduceTimeout,
		Linger:     cfg.Linger,
		MaxRecords: cfg.MaxBufferedRecords,
		MaxBytes:   cfg.MaxBufferedBytes,
	})
	if err != nil {
		return nil, err
	}
	listener, err := service.Listen(context.Background(), "INGEST_ADDR", cfg.Addr)
	if err != nil {
		records.Close(context.Background())
		return nil, err
	}
	in := &Ingest{
		store:   records,
		handler: newHandler(&cfg, &set, records, counted),
	}
	in.server = service.NewHTTPServer(in.Name(), listener, in.handler, set.Logger)
	in.server.WriteTimeout = answerTimeout + cfg.ProduceTimeout
	in.server.TLS = encryption
	in.server.MaxConnections, in.server.Shed = cfg.MaxConnections, counted.Shed
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
// now is taken in, unless raw-events is full. Nobody is to be sent elsewhere for
// that: there is no other process whose broker has room.
func (in *Ingest) Ready() error { return in.store.Ready() }

// Run serves until ctx ends. Requests in hand are then finished, for as long as
// the server's grace lasts, before the client is flushed and closed.
func (in *Ingest) Run(ctx context.Context) error {
	// The requests in hand need to know of an outage too.
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	var watch sync.WaitGroup
	watch.Go(func() { in.store.Watch(watching) })
	err := in.server.Run(ctx)
	stop()
	watch.Wait()
	in.store.Close(context.WithoutCancel(ctx))
	return err
}
