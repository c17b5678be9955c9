package service_test

import (
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/service"
)

func TestListenErrorsNameTheVariable(t *testing.T) {
	held, err := service.Listen(t.Context(), "INGEST_ADDR", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	taken := held.Addr().String()

	tests := map[string]struct{ addr, want string }{
		"taken": {
			addr: taken,
			want: "listen on INGEST_ADDR=" + taken + ": address already in use: another process uses it; set INGEST_ADDR to another address",
		},
		"no port": {
			addr: "127.0.0.1",
			want: "listen on INGEST_ADDR=127.0.0.1: expected host:port, such as 127.0.0.1:8080",
		},
		"not a port": {
			addr: "127.0.0.1:http-ish",
			want: "listen on INGEST_ADDR=127.0.0.1:http-ish: lookup tcp/http-ish: unknown port; set INGEST_ADDR to another address",
		},
		"not of this machine": {
			addr: "203.0.113.1:80",
			want: "listen on INGEST_ADDR=203.0.113.1:80: bind: cannot assign requested address; set INGEST_ADDR to another address",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ln, err := service.Listen(t.Context(), "INGEST_ADDR", test.addr)
			if err == nil {
				ln.Close()
				t.Fatal("Listen succeeded")
			}
			if got := err.Error(); !strings.EqualFold(got, test.want) {
				t.Errorf("error\n got %s\nwant %s", got, test.want)
			}
		})
	}
}
