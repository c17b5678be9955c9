package policy

import (
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
)

// TestClocksOfWriters: topics that go by them are one mismatch.
func TestClocksOfWriters(t *testing.T) {
	t.Parallel()
	state := func(kind, ahead string) State {
		s := State{Configs: map[string]string{TimestampType: kind}}
		if ahead != "" {
			s.Configs[timestampAhead] = ahead
		}
		return s
	}
	for name, tt := range map[string]struct {
		config Config
		states map[string]State
		want   []string // parts of the line; none: no mismatch
	}{
		"none":         {},
		"the brokers'": {states: map[string]State{schemas.TopicRawEvents: state("LogAppendTime", "3600000")}},
		"unknown":      {states: map[string]State{schemas.TopicRawEvents: {}}},
		"embedded":     {Config{Embedded: true}, map[string]State{schemas.TopicRawEvents: state("CreateTime", "")}, nil},
		"Kafka 3": {
			states: map[string]State{schemas.TopicRawEvents: state("CreateTime", "9223372036854775807")},
			want:   []string{"topic raw-events: message.timestamp.type is CreateTime, expected LogAppendTime: how long", "--entity-name raw-events --add-config message.timestamp.type=LogAppendTime"},
		},
		"Kafka 4, several": {
			states: map[string]State{
				"deliver.a": state("CreateTime", "9223372036854775807"), "deliver.b": state("CreateTime", "3600000"),
				"deliver.c": state("LogAppendTime", "3600000"), "deliver.d": state("CreateTime", ""),
			},
			want: []string{"more than 1h0m0s ahead of the brokers' are refused", "--entity-name deliver.a", "for 2 more topics, such as deliver.b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tt.config.compareClocks(tt.states)
			if len(got) != min(len(tt.want), 1) {
				t.Fatalf("found %v", got)
			}
			for _, part := range tt.want {
				if !strings.Contains(got[0].String(), part) || got[0].Grave {
					t.Errorf("no %q in %q, or grave", part, got[0])
				}
			}
		})
	}
}
