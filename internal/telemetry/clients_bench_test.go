package telemetry

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
)

// BenchmarkHooks is what a request that writes or reads one batch costs more.
func BenchmarkHooks(b *testing.B) {
	clients := NewClients(prometheus.NewRegistry())
	clients.Hook("ingest")
	r := clients.roles["ingest"]
	broker := kgo.BrokerMetadata{NodeID: 1, Host: "127.0.0.1", Port: 9092}
	e2e := kgo.BrokerE2E{BytesWritten: 1000, BytesRead: 100, WriteWait: time.Microsecond}
	b.ReportAllocs()
	for b.Loop() {
		r.OnProduceBatchWritten(broker, "raw-events", 0, kgo.ProduceBatchMetrics{NumRecords: 20, UncompressedBytes: 20_000, CompressedBytes: 4_000})
		r.OnBrokerE2E(broker, 0, e2e)
	}
}
