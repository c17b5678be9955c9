package telemetry

import (
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// MaxDestinations is how many destinations have series of their own unless
// METRICS_MAX_DESTINATIONS says otherwise. With so many, a process that runs every
// stage tells less than 2 MB at a time however many destinations there are.
const MaxDestinations = 500

// OtherDestinations is the value of the label destination that the destinations
// beyond the bound share. No id of a destination looks like it.
const OtherDestinations = "_other"

// Destinations says which destinations have series of their own. Every series costs
// each scrape, and whoever stores it: their number must not be that of a
// workspace's destinations, of which there may be ten thousand.
//
// Places are given in the order of asking, and kept for the life of the process:
// a counter that changed its label would go backwards. It may be used by many
// goroutines; the stages of a process share one, so that they agree.
type Destinations struct {
	most  int
	log   *slog.Logger
	other prometheus.Gauge

	mu     sync.Mutex
	labels map[string]string // by id
}

// NewDestinations returns a Destinations with so many places, at least one. It
// counts the destinations that find none, and logs the first of them.
func NewDestinations(most int, reg prometheus.Registerer, log *slog.Logger) *Destinations {
	d := &Destinations{
		most: max(most, 1), log: log, labels: make(map[string]string),
		other: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "anabranch_metrics_other_destinations",
			Help: `Destinations whose series are added up under destination="_other", because METRICS_MAX_DESTINATIONS others have series of their own.`,
		}),
	}
	reg.MustRegister(d.other)
	return d
}

// Label returns the value of the label destination for the destination of an id.
func (d *Destinations) Label(id string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if label, known := d.labels[id]; known {
		return label
	}
	label := id
	if len(d.labels) >= d.most {
		label = d.share(id)
	}
	d.labels[id] = label
	return label
}

func (d *Destinations) share(id string) string {
	if len(d.labels) == d.most {
		d.log.Warn("more destinations than METRICS_MAX_DESTINATIONS: the others share their series",
			"limit", d.most, "destination", id, "label", OtherDestinations)
	}
	d.other.Inc()
	return OtherDestinations
}
