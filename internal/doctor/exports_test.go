package doctor

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestATopicForOthers is made as the workspace says, or that is found; and what its readers
// have to be allowed is told.
func TestATopicForOthers(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	set := clinic(t, cluster)
	export := func(how *workspace.Export) workspace.Destination {
		return workspace.Destination{ID: "warehouse", Type: workspace.TypeTopic, Enabled: true, Sources: []string{"web"}, Export: how}
	}
	s := workspace.NewSnapshot([]workspace.Source{source("web", true)}, []workspace.Destination{export(&workspace.Export{Name: "shop.calls", Partitions: 2, Retention: time.Hour})})
	set.Workspace = func(context.Context) (*workspace.Snapshot, bool, error) { return s, true, nil }
	if bad, _ := Examine(t.Context(), set).of(CheckTopics); len(bad) == 0 || !strings.Contains(bad[0].Found, "shop.calls") {
		t.Errorf("before it is there: %+v", bad)
	}
	if err := set.Topics.For(s.Exports()).Ensure(t.Context(), append(set.expected(s), schemas.TopicDeadLetters)...); err != nil {
		t.Fatal(err)
	}
	all := Examine(t.Context(), set)
	if bad, _ := all.of(CheckTopics); len(bad) > 0 {
		t.Errorf("as it was made: %+v", bad)
	}
	var told []string
	for _, f := range all.Findings {
		if f.About == "destination warehouse" {
			told = append(told, f.Found)
		}
	}
	text := strings.Join(told, "\n")
	for _, want := range []string{
		"--allow-principal User:READER --operation Read --operation Describe --topic shop.calls", "--operation Read --group GROUP",
		"--allow-principal User:ROUTER --operation Write --operation Create --operation DescribeConfigs --topic shop.calls",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}

	other := workspace.NewSnapshot(s.Sources(), []workspace.Destination{export(&workspace.Export{Name: "shop.calls", Partitions: 3, Retention: 2 * time.Hour})})
	set.Workspace = func(context.Context) (*workspace.Snapshot, bool, error) { return other, true, nil }
	bad, _ := Examine(t.Context(), set).of(CheckTopics)
	for i, want := range []string{"partitions is 2, expected 3: its readers find", policy.RetentionMs + " is 3600000, expected 7200000: its readers have"} {
		if i >= len(bad) || !strings.HasPrefix(bad[i].Found, want) || bad[i].About != "shop.calls" {
			t.Errorf("of another workspace: %+v, want %q", bad, want)
		}
	}
}

// TestTheTopicOfAnExportIsJudged by what the router may do there, whatever it is called.
func TestTheTopicOfAnExportIsJudged(t *testing.T) {
	t.Parallel()
	s := workspace.NewSnapshot(nil, []workspace.Destination{
		{ID: "warehouse", Type: workspace.TypeTopic, Export: &workspace.Export{Name: "shop.calls"}}, {ID: "usual", Type: workspace.TypeTopic},
	})
	for _, role := range withExports(stages().Roles(), s) {
		var rules []string
		for _, rule := range role.Rules {
			if rule.Name == "shop.calls" {
				rules = append(rules, rule.String())
			}
			if strings.Contains(rule.Name, "usual") {
				t.Errorf("%s: %s, which it may by its prefix", role.Name, rule)
			}
		}
		if writes := role.Name == "router"; writes != (len(rules) == 3) || !writes && len(rules) > 0 {
			t.Errorf("%s: %v", role.Name, rules)
		}
	}
}
