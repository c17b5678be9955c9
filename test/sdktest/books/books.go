package books

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// Delivery is one delivery.
type Delivery struct {
	Body   []byte
	Signed bool // with the shared secret
	At     time.Time
}

// Books is a listening receiver. A destination is the path of a delivery's URL
// without its slash.
type Books struct {
	// URL is its own, without a trailing slash.
	URL string

	secret schemas.Secret
	server *httptest.Server

	mu         sync.Mutex
	deliveries map[string][]Delivery
}

// Open starts a receiver on a loopback port.
func Open(secret string) *Books {
	b := &Books{secret: schemas.Secret(secret), deliveries: map[string][]Delivery{}}
	b.server = httptest.NewServer(b)
	b.URL = b.server.URL
	return b
}

// Close ends it.
func (b *Books) Close() { b.server.Close() }

// ServeHTTP takes a delivery. It never refuses one: what is wrong with it is for
// the judge to say.
func (b *Books) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	d := Delivery{Body: body, Signed: schemas.Verify(b.secret, body, r.Header.Get(schemas.SignatureHeader)), At: time.Now()}
	destination := strings.TrimPrefix(r.URL.Path, "/")
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deliveries[destination] = append(b.deliveries[destination], d)
}

// Deliveries returns those of a destination, in the order of their arrival.
func (b *Books) Deliveries(destination string) []Delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.deliveries[destination])
}
