package work

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// peak is a gauge that knows the most it ever showed.
type peak struct {
	prometheus.Gauge // nil: nothing else is called

	mu        sync.Mutex
	now, most float64
}

// Set implements prometheus.Gauge.
func (p *peak) Set(to float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now, p.most = to, max(p.most, to)
}

// Add implements prometheus.Gauge.
func (p *peak) Add(more float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now += more
	p.most = max(p.most, p.now)
}

// Most is the most it ever showed.
func (p *peak) Most() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.most
}

// Sub implements prometheus.Gauge.
func (p *peak) Sub(less float64) { p.Add(-less) }
