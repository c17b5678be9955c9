package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
)

// Print writes the row's line, and one more for each bound that is broken.
func Print(w io.Writer, r *Result) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %d of %d %s, sent %d, lost %d, dead %d, doubled %d, inverted %d",
		r.Row, r.Faults.Injected, r.Faults.Claimed, r.Faults.What, r.Sent, r.Lost, r.Dead, r.Doubled, r.Inverted)
	if latencies := r.latencies(); latencies != "" {
		fmt.Fprintf(&out, ", p50/p99 %s", latencies)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&out, ", %s", note)
	}
	out.WriteString("\n")
	for _, broken := range r.Broken {
		fmt.Fprintf(&out, "%s: BROKEN: %s\n", r.Row, broken)
	}
	if r.Table != nil {
		if err := r.Table.text(&out); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (r *Result) latencies() string {
	if r.During.Count == 0 {
		return ""
	}
	text := fmt.Sprintf("before %s, during %s, after %s", phase(r.Before), phase(r.During), phase(r.After))
	if slowdown, ok := r.Slowdown(); ok {
		text += fmt.Sprintf(" (%.2f times)", slowdown)
	}
	return text
}

func phase(p books.Phase) string {
	if p.Count == 0 {
		return "none"
	}
	return fmt.Sprintf("%s/%s of %d", brief(p.P50), brief(p.P99), p.Count)
}

// brief rounds a latency to three digits or so.
func brief(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= 100*time.Millisecond:
		return d.Round(time.Millisecond).String()
	default:
		return d.Round(10 * time.Microsecond).String()
	}
}

// Origin says where and when results come from.
type Origin struct {
	When    time.Time
	Machine string // cores, kernel, Go
	Broker  string
	Seed    uint64
	Command string // that makes them again
}

// Markdown writes the results as a table for docs/faults.md.
func Markdown(w io.Writer, o Origin, results []*Result) error {
	var out strings.Builder
	fmt.Fprintf(&out, "## %s, %s\n\n", o.Broker, o.When.UTC().Format("2006-01-02"))
	fmt.Fprintf(&out, "%s; seed %d; `%s`.\n\n", o.Machine, o.Seed, o.Command)
	out.WriteString("| row | injected | sent | lost | dead | doubled | inverted | p50/p99 before | during | after | figures |\n")
	out.WriteString("|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range results {
		figures := slices.Clone(r.Notes)
		for _, broken := range r.Broken {
			figures = append(figures, "**broken: "+broken+"**")
		}
		fmt.Fprintf(&out, "| %s | %d %s | %d | %d | %d | %d | %d | %s | %s | %s | %s |\n",
			r.Row, r.Faults.Injected, r.Faults.What, r.Sent, r.Lost, r.Dead, r.Doubled, r.Inverted,
			cell(r.Before), cell(r.During), cell(r.After), strings.Join(figures, "; "))
	}
	for _, r := range results {
		if r.Table != nil {
			fmt.Fprintf(&out, "\n`%s`:\n", r.Row)
			r.Table.markdown(&out)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func cell(p books.Phase) string {
	if p.Count == 0 {
		return ""
	}
	return brief(p.P50) + " / " + brief(p.P99)
}
