package telemetry_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/anabranch/anabranch/internal/telemetry"
)

func TestReadinessIsASeries(t *testing.T) {
	registry := prometheus.NewRegistry()
	var missing error
	telemetry.RegisterProcess(registry, "v1.2.3", func() error { return missing })
	for _, step := range []struct {
		missing error
		want    string
	}{
		{errors.New("no partitions"), "0"}, {nil, "1"}, {errors.New("no brokers"), "0"},
	} {
		missing = step.missing
		want := "# HELP anabranch_ready 1 when every stage of the process has its partitions and calls flow, else 0; /readyz says the same.\n# TYPE anabranch_ready gauge\nanabranch_ready " + step.want + "\n"
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "anabranch_ready"); err != nil {
			t.Errorf("with %v: %v", step.missing, err)
		}
	}
}

func TestBuildIsASeries(t *testing.T) {
	registry := prometheus.NewRegistry()
	telemetry.RegisterProcess(registry, "v1.2.3", func() error { return nil })
	want := "# HELP anabranch_build_info 1, with the version of Anabranch and of Go that it was built with.\n# TYPE anabranch_build_info gauge\nanabranch_build_info{goversion=\"" + runtime.Version() + "\",version=\"v1.2.3\"} 1\n"
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "anabranch_build_info"); err != nil {
		t.Error(err)
	}
}
