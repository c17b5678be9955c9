package ingest

import (
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/ingest/internal/limit"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestStopFinishesWhatIsInHand stops the stage while a request waits for its
// acknowledgement.
func TestStopFinishesWhatIsInHand(t *testing.T) {
	cluster := testkit.Fake(t)
	s := newStage(t, cluster.Options())
	s.cluster = cluster
	stop := s.run(t)
	testkit.Until(t, func() bool { return s.Ready() == nil }, "the stage to be ready")
	held, release := testkit.HoldProduce(cluster.Fake)
	got := make(chan reply)
	go func() { got <- s.post(t, "/v1/identify", oneCall) }()
	<-held
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	testkit.Until(t, func() bool {
		conn, err := net.Dial("tcp", s.Addr())
		if err == nil {
			conn.Close()
		}
		return err != nil
	}, "the listener to be closed")
	release()
	if a := <-got; a.body != success {
		t.Errorf("got %d %s", a.status, a.body)
	}
	<-stopped
	s.stored(t, 1)
}

func TestDefaultsAreValid(t *testing.T) {
	cfg, err := env.ParseAs[Config]()
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
	if cfg.Addr != "127.0.0.1:8080" || cfg.ProduceTimeout != 10*time.Second || cfg.BadKeysPerMinute != limit.DefaultBadKeysPerMinute {
		t.Errorf("got %+v", cfg)
	}
}

func TestValidateNamesEveryVariable(t *testing.T) {
	err := Config{Addr: "8080", PublicHost: "https://example.com", ProduceTimeout: time.Hour, Linger: time.Second, MaxBufferedRecords: 1, MaxBufferedBytes: 1, MaxConnections: -1, RatePerSource: -1, BadKeysPerMinute: -1, MaxBatchBytes: 1}.Validate()
	const want = `INGEST_ADDR=8080: expected host:port, such as 127.0.0.1:8080
INGEST_PUBLIC_HOST=https://example.com: expected a host such as collect.example.com, with a port if need be, without scheme and path
INGEST_PRODUCE_TIMEOUT=1h0m0s: expected 100ms to 1m
INGEST_LINGER=1s: expected 0s to 100ms
INGEST_MAX_BUFFERED_RECORDS=1: expected at least 2500, one batch
INGEST_MAX_BUFFERED_BYTES=1: expected at least 16777216, one batch
INGEST_MAX_BATCH_BYTES=1: expected 512000, the limit of the protocol, to 4194304
INGEST_MAX_CONNECTIONS=-1: expected a number of connections, or 0 for no limit
INGEST_RATE_PER_SOURCE=-1: expected a number of events, or 0 for no limit
INGEST_BAD_KEYS_PER_MINUTE=-1: expected a number of requests, or 0 for no limit`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
}

func TestAPortInUseNamesItsVariable(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cfg := Config{Addr: taken.Addr().String(), ProduceTimeout: time.Second, MaxBufferedRecords: 2500, MaxBufferedBytes: minBuffered, MaxBatchBytes: mostBatchBytes}
	_, err = New(cfg, Settings{Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(), Workspace: workspace.NewLive(testWorkspace())})
	if err == nil || !strings.Contains(err.Error(), "INGEST_ADDR="+cfg.Addr) {
		t.Errorf("got %v", err)
	}
}

func TestNotReadyBeforeABrokerHasAnswered(t *testing.T) {
	s := newStage(t, testkit.Fake(t).Options())
	if err := s.Ready(); err == nil || err.Error() != "the brokers do not answer: no broker has answered yet" {
		t.Errorf("got %v", err)
	}
	s.run(t)
	testkit.Until(t, func() bool { return s.Ready() == nil }, "the stage to be ready")
}
