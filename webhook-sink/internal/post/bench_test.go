package post

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkPost has the receiver in the same process: about half of what it shows
// is net/http's server.
func BenchmarkPost(b *testing.B) {
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	plain := httptest.NewServer(handler)
	defer plain.Close()
	trusted := newAuthority(b, "Trusted")
	encrypted := httptest.NewUnstartedServer(handler)
	encrypted.TLS = &tls.Config{Certificates: []tls.Certificate{trusted.leaf(b, nil)}}
	encrypted.StartTLS()
	defer encrypted.Close()

	for url, server := range map[string]*httptest.Server{hookURL: plain, tlsURL: encrypted} {
		b.Run(url, func(b *testing.B) {
			client := newClient(b, Options{Idle: 64, Dial: dialTo(server), Roots: pool(trusted.cert)})
			target, body := newTarget(b, url), make([]byte, 1000)
			b.ReportAllocs()
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if got := client.Post(b.Context(), target, body, "signature"); got != isDelivered {
						b.Errorf("result %+v", got)
					}
				}
			})
		})
	}
}
