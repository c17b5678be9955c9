package telemetry

import (
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/plugin/kprom"
)

// Clients measures the Kafka clients of a process with franz-go's own plugin, by
// role: what a client is for. A plugin counts for one client, and takes its series
// along when that is closed; but ours come and go. Routers renew their session,
// producers are replaced, some live side by side for a moment, and a total has to
// outlive them all. So there is one plugin for each role, which no client owns.
//
// It tells nothing by topic, of which there is one for each destination.
type Clients struct {
	reg prometheus.Registerer

	mu    sync.Mutex
	roles map[string]*role
}

// NewClients returns a Clients whose series go to reg, with a label client for the
// role.
func NewClients(reg prometheus.Registerer) *Clients {
	return &Clients{reg: reg, roles: make(map[string]*role)}
}

// Hook measures the clients that are made with it as those of a role. It is an
// option of kgo.NewClient that may be used any number of times.
func (c *Clients) Hook(name string) kgo.Opt {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.roles[name]
	if r == nil {
		r = newRole()
		prometheus.WrapRegistererWith(prometheus.Labels{"client": name}, c.reg).MustRegister(r)
		c.roles[name] = r
	}
	return kgo.WithHooks(r)
}

// clientNamespace is that of the series.
const clientNamespace = "anabranch_kafka"

// role is the hooks of all clients of one role, and their series.
type role struct {
	*kprom.Metrics // hears all else of them

	shown map[*prometheus.Desc]bool // those of the plugin
	// buffers are what the clients hold at the moment. The plugin would ask a single
	// client for that, under names which Prometheus keeps for counters.
	buffers []buffer

	mu      sync.Mutex
	clients map[*kgo.Client]bool // that are open
}

// buffer is one measure of what a client holds.
type buffer struct {
	desc *prometheus.Desc
	of   func(*kgo.Client) int64
}

func newRole() *role {
	r := &role{
		Metrics: kprom.NewMetrics(clientNamespace,
			kprom.Registry(nil), // it is collected by way of its role
			kprom.FetchAndProduceDetail(kprom.Records, kprom.Batches),
			kprom.Histograms(kprom.RequestThrottled),
			kprom.NativeBucketFactor(0), // classic buckets alone, which any Prometheus reads
		),
		shown:   make(map[*prometheus.Desc]bool),
		buffers: newBuffers(),
		clients: make(map[*kgo.Client]bool),
	}
	// The plugin makes its series when it hears of a client. It would ask that one
	// for its buffers alone, and is never asked for them.
	r.Metrics.OnNewClient(nil)
	each(r.Metrics.Describe, func(d *prometheus.Desc) {
		if slices.ContainsFunc(pluginSeries(), func(name string) bool {
			return strings.Contains(d.String(), `"`+clientNamespace+"_"+name+`"`)
		}) {
			r.shown[d] = true
		}
	})
	return r
}

// pluginSeries are those that the plugin is left to count.
func pluginSeries() []string {
	return []string{
		"connects_total", "connect_errors_total", "disconnects_total",
		"write_bytes_total", "write_errors_total", "read_bytes_total", "read_errors_total",
		"produce_batches_total", "produce_records_total", "fetch_batches_total", "fetch_records_total",
		"request_throttled_seconds",
	}
}

func newBuffers() []buffer {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(clientNamespace+"_"+name, help, nil, nil)
	}
	return []buffer{
		{desc("buffered_produce_records", "Records that wait to be acknowledged by the brokers."), (*kgo.Client).BufferedProduceRecords},
		{desc("buffered_produce_bytes", "Bytes of records that wait to be acknowledged by the brokers."), (*kgo.Client).BufferedProduceBytes},
		{desc("buffered_fetch_records", "Records that were fetched and not polled yet."), (*kgo.Client).BufferedFetchRecords},
		{desc("buffered_fetch_bytes", "Bytes of records that were fetched and not polled yet."), (*kgo.Client).BufferedFetchBytes},
	}
}

// each calls do for everything that from sends.
func each[T any](from func(chan<- T), do func(T)) {
	ch := make(chan T)
	go func() {
		defer close(ch)
		from(ch)
	}()
	for item := range ch {
		do(item)
	}
}

// Describe implements [prometheus.Collector].
func (r *role) Describe(ch chan<- *prometheus.Desc) {
	each(r.Metrics.Describe, func(d *prometheus.Desc) {
		if r.shown[d] {
			ch <- d
		}
	})
	for i := range r.buffers {
		ch <- r.buffers[i].desc
	}
}

// Collect implements [prometheus.Collector].
func (r *role) Collect(ch chan<- prometheus.Metric) {
	each(r.Metrics.Collect, func(m prometheus.Metric) {
		if r.shown[m.Desc()] {
			ch <- m
		}
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.buffers {
		sum := int64(0)
		for client := range r.clients {
			sum += b.of(client)
		}
		ch <- prometheus.MustNewConstMetric(b.desc, prometheus.GaugeValue, float64(sum))
	}
}

// OnNewClient implements [kgo.HookNewClient].
func (r *role) OnNewClient(client *kgo.Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients[client] = true
}

// OnClientClosed implements [kgo.HookClientClosed].
func (r *role) OnClientClosed(client *kgo.Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.clients, client)
}
