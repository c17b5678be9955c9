package browser

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/anabranch/anabranch/test/sdktest/driver"
	"github.com/anabranch/anabranch/test/sdktest/scenario"
)

//go:embed web
var web embed.FS

// brief is what the page is told.
type brief struct {
	SDK      string          `json:"sdk"`      // its package, below node_modules
	Endpoint string          `json:"endpoint"` // base URL of the collection API, without a path
	WriteKey string          `json:"writeKey"`
	Mode     driver.Mode     `json:"mode"`
	Tag      string          `json:"tag"` // of the run
	Calls    []scenario.Call `json:"calls"`
	Last     []scenario.Call `json:"last"` // to make just before the page goes away
}

// pages is the site that the browser visits.
type pages struct {
	url string

	server *http.Server
	served sync.WaitGroup
	brief  brief
	// settled waits until the first n calls have been accepted.
	settled func(ctx context.Context, n int) error
	// fail is told what went wrong in the page.
	fail context.CancelCauseFunc
	left chan struct{} // gets one when the page goes away
}

// openPages serves the pages, and the driver's folder below /sdk/, on a loopback
// port.
func openPages(p *pages, folder string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed with the pages
	if err != nil {
		return fmt.Errorf("open the pages: %w", err)
	}
	files, err := fs.Sub(web, "web")
	if err != nil {
		return errors.Join(err, l.Close())
	}
	p.left = make(chan struct{}, 1)
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.Handle("GET /sdk/", http.StripPrefix("/sdk", http.FileServer(http.Dir(folder))))
	mux.HandleFunc("GET /job.json", p.serveJob)
	mux.HandleFunc("GET /settled", p.serveSettled)
	mux.HandleFunc("POST /left", p.serveLeft)
	mux.HandleFunc("POST /trouble", p.serveTrouble)
	// A name beside that of the collection API: they shall share no origin and no
	// cookies.
	p.url = fmt.Sprintf("http://localhost:%d", l.Addr().(*net.TCPAddr).Port) //nolint:forcetypeassert // a TCP listener's
	p.server = &http.Server{Handler: mux}                                    //nolint:gosec // speaks to our own browser alone
	p.served.Go(func() { _ = p.server.Serve(l) })                            // ends with close
	return nil
}

func (p *pages) close() error {
	err := p.server.Close()
	p.served.Wait()
	return err
}

func (p *pages) serveJob(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(p.brief); err != nil {
		p.fail(fmt.Errorf("tell the page what to do: %w", err))
	}
}

// serveSettled answers when the calls that the page has made until now are
// accepted.
func (p *pages) serveSettled(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Query().Get("calls"))
	if err == nil {
		err = p.settled(r.Context(), n)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (p *pages) serveLeft(http.ResponseWriter, *http.Request) {
	select {
	case p.left <- struct{}{}:
	default:
	}
}

func (p *pages) serveTrouble(_ http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	p.fail(errors.Join(fmt.Errorf("the page: %s", text), err))
}
