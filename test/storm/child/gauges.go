package child

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/anabranch/anabranch/test/scrape"
)

// Gauges are what a process takes of the machine.
type Gauges struct {
	Resident    int64 // bytes
	Goroutines  int
	Descriptors int
	CPU         float64 // seconds that it has computed so far
}

// Gauges asks the process.
func (p *Process) Gauges(ctx context.Context) (Gauges, error) {
	resp, err := p.get(ctx, "/metrics")
	if err != nil {
		return Gauges{}, fmt.Errorf("read the gauges of %s: %w", p.Name, err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end or failed
	return parseGauges(resp.Body)
}

func parseGauges(text io.Reader) (Gauges, error) {
	page, err := scrape.Read(text)
	if err != nil {
		return Gauges{}, err
	}
	found := 0
	gauge := func(name string) float64 {
		value, series := page.Sum(name)
		found += series
		return value
	}
	g := Gauges{
		Resident: int64(gauge("process_resident_memory_bytes")), Goroutines: int(gauge("go_goroutines")),
		Descriptors: int(gauge("process_open_fds")), CPU: gauge("process_cpu_seconds_total"),
	}
	if found != 4 {
		return g, fmt.Errorf("read metrics: found %d of 4 gauges", found)
	}
	return g, nil
}

// A Watch keeps the highest gauges that a process shows while it is watched.
type Watch struct {
	stop context.CancelFunc
	done sync.WaitGroup
	peak Gauges
	err  error
}

// Watch looks at the process twice a second.
func (p *Process) Watch(ctx context.Context) *Watch {
	ctx, stop := context.WithCancel(ctx)
	w := &Watch{stop: stop}
	w.done.Go(func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			switch g, err := p.Gauges(ctx); {
			case err == nil:
				w.peak = w.peak.max(g)
			case ctx.Err() == nil:
				w.err = err
			}
		}
	})
	return w
}

// Peak ends the watch and returns each gauge at its highest. The error is that of
// a look that failed, after which the peak may have been higher.
func (w *Watch) Peak() (Gauges, error) {
	w.stop()
	w.done.Wait()
	return w.peak, w.err
}

func (g Gauges) max(other Gauges) Gauges {
	return Gauges{
		Resident:    max(g.Resident, other.Resident),
		Goroutines:  max(g.Goroutines, other.Goroutines),
		Descriptors: max(g.Descriptors, other.Descriptors),
		CPU:         max(g.CPU, other.CPU),
	}
}
