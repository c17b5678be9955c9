package testkit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const (
	redpandaImage = "redpandadata/redpanda:v25.3.6"
	// redpandaPatience includes pulling the image.
	redpandaPatience = 5 * time.Minute
)

// errNoDocker wraps the reason why no container can be started.
var errNoDocker = errors.New("no Docker engine answers")

// redpanda starts the container of this test binary. Nothing here stops it:
// testcontainers' reaper does when the process ends, however it ends.
var redpanda = sync.OnceValues(startRedpanda)

// redpandaAddr returns the address of this test binary's Redpanda.
func redpandaAddr(tb testing.TB) string {
	tb.Helper()
	addr, err := redpanda()
	if errors.Is(err, errNoDocker) {
		tb.Skipf("ANABRANCH_TEST_BROKER=redpanda: %v", err)
	}
	if err != nil {
		tb.Fatalf("start %s: %v", redpandaImage, err)
	}
	return addr
}

func startRedpanda() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), redpandaPatience)
	defer cancel()
	if err := dockerHealth(ctx); err != nil {
		return "", fmt.Errorf("%w: %w", errNoDocker, err)
	}
	// A broker tells clients where it is reached, so it must know the port on
	// this side of the container before it starts.
	port, err := freePort()
	if err != nil {
		return "", err
	}
	_, err = testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: redpandaRequest(port),
		Started:          true,
	})
	return net.JoinHostPort("127.0.0.1", port), err
}

// dockerHealth asks the engine for its state. Where there is no sign of Docker
// at all, testcontainers panics instead of returning an error.
func dockerHealth(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("look for Docker: %v", r)
		}
	}()
	provider, err := testcontainers.ProviderDocker.GetProvider()
	if err != nil {
		return err
	}
	return provider.Health(ctx)
}

func redpandaRequest(port string) testcontainers.ContainerRequest {
	inside := network.MustParsePort("9092/tcp")
	return testcontainers.ContainerRequest{
		Image:        redpandaImage,
		ExposedPorts: []string{inside.String()},
		Cmd: []string{
			"redpanda", "start", "--mode=dev-container", "--smp=1", "--memory=1G",
			"--kafka-addr=PLAINTEXT://0.0.0.0:9092",
			"--advertise-kafka-addr=PLAINTEXT://127.0.0.1:" + port,
		},
		HostConfigModifier: func(host *container.HostConfig) {
			host.PortBindings = network.PortMap{
				inside: {{HostIP: netip.AddrFrom4([4]byte{127, 0, 0, 1}), HostPort: port}},
			}
		},
		WaitingFor: wait.ForLog("Successfully started Redpanda!").WithStartupTimeout(redpandaPatience),
	}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // binding a loopback port does not wait for anything
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}
