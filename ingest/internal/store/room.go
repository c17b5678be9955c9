package store

import "sync"

// room bounds what waits for the brokers. A request gets room for all of its
// records or for none: were it refused in the middle, its first half would be
// stored again with every attempt of the client to send it.
type room struct {
	mu             sync.Mutex
	records, bytes int // left
}

// take reports whether there was room.
func (r *room) take(records, bytes int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if records > r.records || bytes > r.bytes {
		return false
	}
	r.records -= records
	r.bytes -= bytes
	return true
}

func (r *room) give(records, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records += records
	r.bytes += bytes
}
