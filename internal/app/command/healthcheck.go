package command

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
)

const (
	// healthTimeout is far above what an answer over the loopback takes, and below
	// the time that container engines give a check.
	healthTimeout = 2 * time.Second
	// maxHealthText bounds what is shown of an answer: engines keep a few lines.
	maxHealthText = 1 << 10
)

// healthcheckCommand is for container engines: an image without a shell has
// nothing else in it that could ask a process how it is.
func healthcheckCommand() Command {
	return Command{
		Name: "healthcheck", Args: "[--url URL]",
		Summary: "whether a running process is ready, for container engines",
		Help:    "Asks a running process whether it is ready, for container engines: the exit code is 0\nif it is.",
		Flags: func(flags *flag.FlagSet) Run {
			url := flags.String("url", "", "the page to ask for; empty: /readyz on ADMIN_ADDR")
			return func(ctx context.Context, program settings.Program, _ []string) error {
				proc, err := program.Open()
				if err != nil {
					return err
				}
				return healthcheck(ctx, cmp.Or(*url, "http://"+reachable(proc.Config.AdminAddr)+"/readyz"))
			}
		},
	}
}

// healthcheck returns nil when url answers 200, else an error with what it says,
// such as the reason why a stage is not ready.
func healthcheck(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("healthcheck: %w", err)
	}
	// A transport of its own: the default one would ask the proxy that the
	// environment names.
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("healthcheck: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxHealthText))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return fmt.Errorf("healthcheck: read the answer of %s: %w", url, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("healthcheck: %s answers %s: %s", url, resp.Status, strings.TrimSpace(string(text)))
	}
	return nil
}

// reachable returns where a listen address is reached from the same machine: one
// that stands for all addresses is no address to ask.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if addr, parseErr := netip.ParseAddr(host); host != "" && (parseErr != nil || !addr.IsUnspecified()) {
		return listen
	}
	return net.JoinHostPort("localhost", port)
}

// answersHealthz answers GET /healthz in front of a handler, which has all other
// requests: for processes without admin pages.
func answersHealthz(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// No ServeMux: it would redirect a delivery to a path with two slashes.
		if r.Method != http.MethodGet || r.URL.Path != "/healthz" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Write([]byte("ok\n"))
	})
}
