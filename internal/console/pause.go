package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
)

// destinationPath is where the page of a destination is.
func destinationPath(id string) string { return Path + "/destination?id=" + url.QueryEscape(id) }

// pauseDestination has nothing sent to a destination, by the word of the visitor.
func (c *Console) pauseDestination(v *visit) (string, error) {
	return c.steerDestination(v, "pause of deliveries to ", func(ctx context.Context, id string) error {
		return c.Questions.Pause(ctx, id, v.who.Name)
	}, func(_ workspace.Pause, paused bool) bool { return paused })
}

// resumeDestination has a destination delivered to again.
func (c *Console) resumeDestination(v *visit) (string, error) {
	return c.steerDestination(v, "resumption of deliveries to ", c.Questions.Resume, func(_ workspace.Pause, paused bool) bool { return !paused })
}

// steerDestination does something about a destination, and waits a moment for this process to
// hear of it, so that the page which comes next shows it.
func (c *Console) steerDestination(v *visit, what string, do func(context.Context, string) error, heard func(workspace.Pause, bool) bool) (string, error) {
	id := v.PostFormValue("id")
	ctx, cancel := context.WithTimeout(v.Context(), quick)
	defer cancel()
	err := do(ctx, id)
	if errors.Is(err, wstopic.ErrPause) {
		return "", &problem{http.StatusConflict, err.Error()}
	}
	if err != nil {
		return "", err
	}
	c.Logger.Info("console: done", "what", what+id, "person", v.who.Name)
	c.await(v.Context(), func(s *workspace.Snapshot) bool { return heard(s.Paused(id)) })
	return destinationPath(id), nil
}

// await returns when the workspace of this process is as it should be, or soon in any case.
func (c *Console) await(ctx context.Context, is func(*workspace.Snapshot) bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*soon)
	defer cancel()
	for {
		changed := c.Workspace.Changed()
		if is(c.Workspace.Load()) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}
