package testkit

import (
	"slices"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
)

func TestRedpandaAdvertisesThePortItIsBoundTo(t *testing.T) {
	request := redpandaRequest("23456")
	if !slices.Contains(request.Cmd, "--advertise-kafka-addr=PLAINTEXT://127.0.0.1:23456") {
		t.Errorf("command %q does not advertise the port", request.Cmd)
	}
	var host container.HostConfig
	request.HostConfigModifier(&host)
	bound := host.PortBindings[network.MustParsePort("9092/tcp")]
	if len(bound) != 1 || bound[0].HostPort != "23456" || !bound[0].HostIP.IsLoopback() {
		t.Errorf("bound to %v, want port 23456 of the loopback", bound)
	}
}
