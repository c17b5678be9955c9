package pipeline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/anabranch/anabranch/test/storm/child"
)

// Pipeline is a running product.
type Pipeline struct {
	// URL is the base URL of the collection API, without a trailing slash.
	URL string

	process *child.Process
	client  *http.Client
}

// Start starts the product's binary in a directory of its own and waits until a
// call would flow. The sources' destinations deliver to receiver, a base URL.
func Start(ctx context.Context, binary, dir, receiver string, sources []string) (*Pipeline, error) {
	file := filepath.Join(dir, "workspace.yaml")
	var err error
	if err = os.WriteFile(file, []byte(workspaceFile(sources, receiver)), 0o600); err != nil {
		return nil, err
	}
	var addrs [4]string
	for i := range addrs {
		if addrs[i], err = child.FreeAddr(); err != nil {
			return nil, err
		}
	}
	p := &Pipeline{
		URL:    "http://" + addrs[0],
		client: &http.Client{Timeout: 10 * time.Second},
		process: &child.Process{
			Name: "anabranch", Path: binary, Args: []string{"run"}, Admin: addrs[1], Log: filepath.Join(dir, "anabranch.log"),
			Env: []string{
				"INGEST_ADDR=" + addrs[0], "BROKER_ADDR=" + addrs[2], "RECEIVER_ADDR=" + addrs[3], "KAFKA_BROKERS=",
				"DATA_DIR=" + filepath.Join(dir, "data"), "WORKSPACE_FILE=" + file, "WEBHOOK_SINK_ALLOW_NETWORKS=127.0.0.0/8",
			},
		},
	}
	if err = p.process.Start(); err != nil {
		return nil, err
	}
	if err = p.process.Ready(ctx); err != nil {
		p.process.Discard()
		return nil, err
	}
	return p, nil
}

// Stop ends it in an orderly way.
func (p *Pipeline) Stop() error {
	_, err := p.process.Stop()
	if err != nil {
		p.process.Discard()
	}
	return err
}

// drainBound is how long accepted calls may take to be delivered, counted from
// when the last one was accepted.
const drainBound = time.Minute

// Drain waits until all that was accepted is delivered or filtered. It does not
// look at what should have been accepted, so nothing can come after it.
func (p *Pipeline) Drain(ctx context.Context) error {
	var last counts
	var failure error
	err := child.Until(ctx, drainBound, "the deliveries of what was accepted", func() bool {
		last, failure = p.counts(ctx)
		return failure == nil && last.drained()
	})
	if err != nil {
		return errors.Join(fmt.Errorf("%w: %+v", err, last), failure)
	}
	return nil
}
