package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/internal/console/internal/jobs"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// lasts is work that takes a while, and is told to end.
func lasts(d time.Duration) jobs.Do {
	return func(ctx context.Context, say func(string)) (string, error) {
		say("half way")
		select {
		case <-time.After(d):
			return "sent 7", nil
		case <-ctx.Done():
			return "sent 3", context.Cause(ctx)
		}
	}
}

func TestAJobGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log testkit.Logs
		j := jobs.New(slog.New(slog.NewTextHandler(&log, nil)))
		defer j.Close()
		gone, leave := context.WithCancel(t.Context())
		id, err := j.Start(gone, jobs.Job{Kind: "redrive", What: "redrive of crm", By: "ada"}, lasts(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		leave()
		synctest.Wait()
		if job, known := j.Get(id); !known || !job.Running() || job.Said != "half way" || job.By != "ada" {
			t.Errorf("under way it is %+v", job)
		}
		if _, err = j.Start(t.Context(), jobs.Job{Kind: "redrive", What: "another"}, lasts(0)); err == nil || !strings.Contains(err.Error(), "redrive of crm, begun by ada") {
			t.Errorf("a second of the kind: %v", err)
		}
		if _, err = j.Start(t.Context(), jobs.Job{Kind: "resync", What: "resync"}, lasts(time.Minute)); err != nil {
			t.Errorf("one of another kind: %v", err)
		}
		virtual.Sleep(time.Minute)
		synctest.Wait()
		if job, _ := j.Get(id); job.Running() || job.Result != "sent 7" || job.Err != nil {
			t.Errorf("at its end it is %+v", job)
		}
		for _, line := range []string{`begun" what="redrive of crm" person=ada`, `done" what="redrive of crm" person=ada`} {
			if !strings.Contains(log.String(), line) {
				t.Errorf("the log has no %s:\n%s", line, &log)
			}
		}
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log testkit.Logs
		j := jobs.New(slog.New(slog.NewTextHandler(&log, nil)))
		defer j.Close()
		id, err := j.Start(t.Context(), jobs.Job{Kind: "redrive", What: "redrive", By: "ada"}, lasts(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if j.Cancel("none", "mallory") || !j.Cancel(id, "bob") {
			t.Error("the wrong job was cancelled")
		}
		synctest.Wait()
		if job, _ := j.Get(id); job.Running() || !errors.Is(job.Err, context.Canceled) || job.Result != "sent 3" || job.Cancelled != "bob" {
			t.Errorf("at its end it is %+v", job)
		}
		if j.Cancel(id, "mallory"); !strings.Contains(log.String(), "person=bob") || strings.Contains(log.String(), "mallory") {
			t.Errorf("the log is\n%s", &log)
		}
		if job, _ := j.Get(id); job.Cancelled != "bob" {
			t.Errorf("what had ended was cancelled by %s", job.Cancelled)
		}
	})
}

func TestJobsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := jobs.New(slog.New(slog.DiscardHandler))
		defer j.Close()
		first, err := j.Start(t.Context(), jobs.Job{Kind: "long", What: "long"}, lasts(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 150 {
			if _, err = j.Start(t.Context(), jobs.Job{Kind: "short", What: strconv.Itoa(i)}, lasts(0)); err != nil {
				t.Fatal(err)
			}
			virtual.Sleep(time.Second)
		}
		all := j.All()
		if len(all) != 100 || all[0].What != "149" || all[99].What != "long" {
			t.Errorf("%d are remembered, from %s to %s", len(all), all[0].What, all[len(all)-1].What)
		}
		if job, known := j.Get(first); !known || !job.Running() {
			t.Error("one that is under way was forgotten")
		}
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := jobs.New(slog.New(slog.DiscardHandler))
		id, err := j.Start(t.Context(), jobs.Job{Kind: "long"}, lasts(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		j.Close()
		if job, _ := j.Get(id); job.Running() || time.Since(began) != 0 {
			t.Errorf("after %s it is %+v", time.Since(began), job)
		}
		if _, err = j.Start(t.Context(), jobs.Job{Kind: "late"}, lasts(0)); !errors.Is(err, jobs.ErrStopping) {
			t.Errorf("a job begins behind the end: %v", err)
		}
	})
}
