package command

import "testing"

func TestReceiveSaysWhatOpensIt(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"127.0.0.1:8082":     " (a sink delivers there with WEBHOOK_SINK_ALLOW_NETWORKS=127.0.0.1/32)",
		"192.168.7.4:8082":   " (a sink delivers there with WEBHOOK_SINK_ALLOW_NETWORKS=192.168.7.4/32)",
		"[::1]:8082":         " (a sink delivers there with WEBHOOK_SINK_ALLOW_NETWORKS=::1/128)",
		"[::]:8082":          "",
		"93.184.215.14:8082": "",
	} {
		if got := opening(addr); got != want {
			t.Errorf("%s: %q, want %q", addr, got, want)
		}
	}
}
